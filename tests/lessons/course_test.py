#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that examples/README.md names the same lessons to read first as the head comment of each
lesson, that it lists them before the lesson, and that no lesson or exercise is missing. A lesson that
launches by launch() shows one of these launches in plain CUDA. In each plan of docs/course.md a
lesson or an exercise is after the lessons that it needs, and the plan of four weeks has all lessons,
exercises and ladders.

course_test.py ROOT
"""

import copy
import pathlib
import re
import sys

LABEL = r"\d+[a-z]?"  # of a lesson: 04 or 16a


def numbers(text):
    """Returns the labels in a text with two digits each; "28a to 28c" stands for all between."""
    labels = []
    for first, last in re.findall(rf"\b({LABEL})(?: to ({LABEL}))?\b", text):
        if not last:
            labels.append(first)
        elif first[-1].isalpha():
            labels += [first[:-1] + chr(c) for c in range(ord(first[-1]), ord(last[-1]) + 1)]
        else:
            labels += [str(n) for n in range(int(first), int(last) + 1)]
    return [label.zfill(3 if label[-1].isalpha() else 2) for label in labels]


def rows(page, *needed):
    """Yields the rows of all tables that have the columns `needed`, as dictionaries."""
    columns = None
    for line in page.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if columns is None:
            columns = cells
        elif set(needed) <= set(columns) and not line.startswith("|---"):
            yield dict(zip(columns, cells))


def label_of(path):
    return path.name.split("_")[0]


def sections(page):
    """Returns the text below each heading of the second level."""
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def arguments(text):
    """Yields the arguments at the beginning of a text, without line feeds, up to the bracket that
    closes them."""
    depth, begin = 0, 0
    for i, c in enumerate(text):
        if (c == "," and depth == 0) or (c in ")]}" and depth == 0):
            yield " ".join(text[begin:i].split())
            begin = i + 1
        if c in ")]}" and depth == 0:
            return
        depth += (c in "([{") - (c in ")]}")


STREAMS = {
    "fire_and_forget()": "cudaStreamFireAndForget",
    "tail_launch()": "cudaStreamTailLaunch",
    "null_stream()": "",
    "nullptr": "",
}


def plain_launches(source):
    """Returns the calls of launch() in a source as launches in plain CUDA."""
    code = re.sub(r"//.*", "", source)
    launches = []
    for call in re.finditer(r"(?<![\w.:])launch\(", code):
        kernel, shape, stream, *rest = [*arguments(code[call.end() :]), "", "", ""]
        if not shape.startswith("{"):
            continue
        numbers_of_launch = [*arguments(shape[1:])]
        if STREAMS.get(stream, stream):
            numbers_of_launch += ["0"] * (3 - len(numbers_of_launch))
            numbers_of_launch.append(STREAMS.get(stream, stream))
        values = ", ".join(rest[:-3])
        launches.append(f"{kernel}<<<{', '.join(numbers_of_launch)}>>>({values})")
    return launches


BESIDE_THE_CALL = {"01", "04", "06", "09", "10"}  # a comment there shows the launch
OF_THE_SYNTAX = {"14", "23"}  # the lesson launches by <<<>>>, too


def lacks_plain_launch(label, source):
    """Returns whether a lesson launches by launch() and does not show such a launch in plain CUDA, in
    the line of its head comment or, in the named lessons, elsewhere."""
    launches = plain_launches(source)
    if label in OF_THE_SYNTAX:
        return not re.search(r"\w<<<", re.sub(r"//.*", "", source))
    if label not in BESIDE_THE_CALL:
        line = r"^// Plain CUDA     .*\n(?:// {16}.*\n)*"
        source = "".join(re.findall(line, source, re.MULTILINE))
    comments = " ".join(" ".join(re.findall(r"//(.*)", source)).split())
    return launches != [] and not any(one in comments for one in launches)


def read(root):
    """Returns what the files and the pages say, as lists and dictionaries of labels."""
    page = (root / "examples/README.md").read_text()
    course = sections((root / "docs/course.md").read_text())
    first = {}  # of each lesson's file: the lessons to read first
    for_gpu = set()
    sources = {}
    for path in sorted((root / "examples/lessons").glob("[0-9]*")):
        text = path.read_text()
        lines = re.findall(r"^(?://|#) Read first     (.*)$", text, re.MULTILINE)
        sources[label_of(path)] = text
        first[label_of(path)] = numbers(lines[0]) if len(lines) == 1 else None
        if "!RAMIFY_ON_CUDA\nint main() { return lesson::skip(" in text:
            for_gpu.add(label_of(path))
    lessons = list(rows(page, "lesson", "topic", "read first"))
    return {
        "first": first,
        "sources": sources,
        "for_gpu": for_gpu,
        "for_gpu_listed": {numbers(r["lesson"])[0] for r in lessons if r["runs on"] == "GPU"},
        "trees": {label_of(p) for p in (root / "examples/lessons/trees").glob("*.svg")},
        "trees_listed": {
            numbers(r["lesson"])[0]
            for r in lessons
            if label_of(pathlib.Path(re.sub(r".*/(.*)\)$", r"\1", r["launch tree"])))
            == numbers(r["lesson"])[0]
        },
        "listed": [(numbers(r["lesson"])[0], numbers(r["read first"])) for r in lessons],
        "exercises": [label_of(p) for p in sorted((root / "examples/exercises").glob("*.cu"))],
        "exercises_listed": [
            (numbers(r["exercise"])[0], numbers(r["read these lessons first"]))
            for r in rows(page, "exercise", "read these lessons first")
        ],
        "ladders": sorted(re.findall(r"\(ladders/README.md#(\S+)\)", page)),
        "plans": {
            name: [
                (numbers(r["lessons"]), numbers(r["exercises"]), r.get("ladders", ""))
                for r in rows(course[name], "lessons", "exercises")
            ]
            for name in ("90 minutes", "A day", "Four weeks")
        },
        "questions": re.findall(r"^(\d+)\. ", course["Questions"], re.MULTILINE),
        "answers": re.findall(
            r"^\d+\. (?:.|\n {4})*\(([^()]*)\)$", course["Questions"], re.MULTILINE
        ),
    }


def problems_of_plan(name, plan, data):
    """Returns what a plan lacks, or has in a wrong order."""
    found = []
    lessons, exercises = [], []
    of_exercise = dict(data["exercises_listed"])
    for row_lessons, row_exercises, _ in plan:
        for lesson in row_lessons:
            for other in data["first"].get(lesson) or []:
                if other not in lessons:
                    found.append(f"{name}: lesson {lesson} needs {other} before it")
            lessons.append(lesson)
        for exercise in row_exercises:
            for other in of_exercise.get(exercise, ["its row in examples/README.md"]):
                if other not in lessons:
                    found.append(f"{name}: exercise {exercise} needs {other} before it")
            exercises.append(exercise)
    for lesson in lessons:
        if lesson not in data["first"] or lessons.count(lesson) > 1:
            found.append(f"{name}: lesson {lesson} does not exist, or is named twice")
    if name == "Four weeks":
        found += [f"{name}: lesson {x} is missing" for x in data["first"] if x not in lessons]
        left = [x for x in data["exercises"] if x not in exercises]
        found += [f"{name}: exercise {x} is missing" for x in left]
        ladders = sorted(
            word.strip().replace(" ", "-") for row in plan for word in row[2].split(",") if word
        )
        if ladders != data["ladders"]:
            found.append(f"{name}: ladders {ladders}, but examples/README.md has {data['ladders']}")
    return found


def problems(data):
    """Returns the sentences about what is missing or differs."""
    found = []
    before = []
    for lesson, needed in data["listed"]:
        if lesson not in data["first"]:
            found.append(f"examples/README.md lists lesson {lesson}, which does not exist")
            continue
        own = data["first"][lesson]
        if own is None:
            found.append(f"lesson {lesson} needs one line `Read first`")
        elif own != needed:
            found.append(f"lesson {lesson} says to read {own} first, examples/README.md {needed}")
        for other in needed:
            if other not in before:
                found.append(f"lesson {lesson} needs {other}, which is not listed before it")
        before.append(lesson)
    for lesson in data["first"]:
        if before.count(lesson) != 1:
            found.append(f"examples/README.md lists lesson {lesson} {before.count(lesson)} times")
    for lesson, source in data["sources"].items():
        if lacks_plain_launch(lesson, source):
            found.append(
                f"lesson {lesson} has none of its launches in plain CUDA: its head comment needs a "
                f"line `Plain CUDA`, for example {plain_launches(source)[0]}"
            )
    listed = [exercise for exercise, _ in data["exercises_listed"]]
    if listed != data["exercises"]:
        found.append(f"exercises {data['exercises']}, but examples/README.md lists {listed}")
    for exercise, needed in data["exercises_listed"]:
        for lesson in needed:
            if lesson not in before:
                found.append(f"exercise {exercise} needs lesson {lesson}, which does not exist")
    if data["for_gpu"] != data["for_gpu_listed"]:
        differ = sorted(data["for_gpu"] ^ data["for_gpu_listed"])
        found.append(f"examples/README.md: these lessons need a GPU, or do not: {differ}")
    if data["trees"] != data["trees_listed"]:
        differ = sorted(data["trees"] ^ data["trees_listed"])
        found.append(f"examples/README.md: these lessons have a launch tree, or have none: {differ}")
    for name, plan in data["plans"].items():
        found += problems_of_plan(name, plan, data)
    half = len(data["questions"]) // 2
    if data["questions"] != [str(n + 1) for n in range(half)] * 2 or len(data["answers"]) != half:
        found.append("docs/course.md: each question needs an answer that ends with its lessons")
    for answer in data["answers"]:
        found += [f"an answer names lesson {x}" for x in numbers(answer) if x not in before]
    return found


def check_the_check(data):
    """Fails if a planted fault is not found."""
    def lose_a_lesson(d):
        d["listed"].pop()

    def name_another(d):
        d["first"]["09"] = ["05"]

    def change_the_order(d):
        d["listed"].reverse()

    def lose_the_line(d):
        d["first"]["20b"] = None

    def lose_an_exercise(d):
        d["exercises_listed"].pop(3)

    def lose_a_lesson_of_the_plan(d):
        d["plans"]["Four weeks"][2][0].remove("36")

    def lose_an_exercise_of_the_plan(d):
        d["plans"]["Four weeks"][3][1].pop()

    def change_the_order_of_a_plan(d):
        d["plans"]["A day"].reverse()

    def lose_an_answer(d):
        d["answers"].pop()

    def lose_a_ladder(d):
        d["ladders"].pop()

    def lose_a_tree(d):
        d["trees"].remove("09")

    def launch_another_kernel(d):
        d["sources"]["16a"] = d["sources"]["16a"].replace("<<<blocks, 1, 0", "<<<1, 1, 0")

    def lose_the_line_of_plain_cuda(d):
        d["sources"]["22"] = d["sources"]["22"].replace("// Plain CUDA     add<<<", "// add<<<")

    def lose_the_comment_beside_the_call(d):
        d["sources"]["09"] = d["sources"]["09"].replace("visit<<<", "")

    def launch_without_the_syntax(d):
        d["sources"]["23"] = d["sources"]["23"].replace("  child<<<", "  // child<<<")

    def launch_into_another_stream(d):
        d["sources"]["08"] = d["sources"]["08"].replace("tail_launch()", "fire_and_forget()")

    def run_without_a_gpu(d):
        d["for_gpu"].remove("18a")

    for plant in [f for f in locals().values() if callable(f)]:
        faulty = copy.deepcopy(data)
        plant(faulty)
        assert problems(faulty), f"{plant.__name__} is not found"


def main():
    assert numbers("lessons 9, 16a to 16c and 11") == ["09", "16a", "16b", "16c", "11"]
    assert numbers("04 to 06") == ["04", "05", "06"]
    data = read(pathlib.Path(sys.argv[1]))
    found = problems(data)
    for sentence in found:
        print(sentence)
    assert all(len(plan) > 3 for plan in data["plans"].values())
    assert len(data["first"]) > 50 and len(data["exercises"]) > 10
    if not found:
        check_the_check(data)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
