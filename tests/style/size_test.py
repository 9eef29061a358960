#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails if a source file, or a header, a kernel or another function of the library, is too long.

  size_test.py ROOT

All lines of a file count, those of tests, examples and benchmarks, too. In a header and a function
comments and blank lines do not count. A function begins with its template parameters and ends with
its closing brace. size_exceptions.txt lists what may be longer, and why. The test fails, too, if an
exception is not needed, or allows more lines than needed.
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ('algorithms/ramify', 'device_runtime/ramify')
ALL_FOLDERS = ('algorithms', 'benchmarks', 'device_runtime', 'examples', 'tests')
LIMITS = {'file': 400, 'header': 250, 'kernel': 60, 'function': 40}

COMMENT = r'//[^\n]*|/\*.*?\*/'
LITERAL = r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
DIRECTIVE = r'^[ \t]*#(?:\\\n|[^\n])*'
MACRO_LINE = r'^RAMIFY_[A-Z_]+(?:\([^()\n]*\))?$'
COMMENTS = re.compile(f'(?P<drop>{COMMENT})|{LITERAL}', re.S | re.M)
NOT_CODE = re.compile(f'(?P<drop>{COMMENT}|{LITERAL}|{DIRECTIVE}|{MACRO_LINE})', re.S | re.M)


def without(pattern, text):
    """Returns the text with spaces in place of what the group `drop` of the pattern matches."""
    return pattern.sub(lambda m: re.sub(r'[^\n]', ' ', m[0]) if m['drop'] else m[0], text)


def without_template(head):
    """Returns a definition's head without access labels, template parameters and constraints."""
    prefix = r'\s*(public:|protected:|private:|template\s*<|requires\s*\()'
    while match := re.match(prefix, head):
        i, angles, parentheses = match.end(), match[1][-1] == '<', match[1][-1] == '('
        while angles or parentheses:
            parentheses += {'(': 1, ')': -1}.get(head[i], 0)
            if not parentheses and head[i - 1:i + 1] != '->':
                angles += {'<': 1, '>': -1}.get(head[i], 0)
            i += 1
        head = head[i:]
    return head.strip()


def kind_of(head):
    """Returns what the brace after `head` begins; None if it begins an initializer."""
    head = without_template(head)
    if re.match(r'((inline )?namespace|class|struct|union|enum|extern)\b', head):
        return 'scope'
    if '(' not in head or head.count('(') > head.count(')'):
        return None
    if re.match(r'(?![^(]*operator)[^(]*=', head):
        return None
    # A constructor's initializers end with a parenthesis or a brace; a name begins another one.
    if re.search(r'\)[^()]*(?<!:):(?!:)', head) and head[-1] not in ')}':
        return None
    return 'kernel' if '__global__' in head else 'function'


def name_of(head):
    """Returns the name of the function that `head` begins."""
    attribute = r'__\w+__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)'
    head = re.sub(attribute, '', without_template(head))
    return re.search(r'(operator\s*(?:\(\)|[^\s(]+)|~?\b[A-Za-z_]\w*)\s*\(', head)[1]


def functions(text):
    """Yields the kind, the name, the offset of the first character and of the brace at the end."""
    code = without(NOT_CODE, text)
    open_braces = []  # kind, first character, name; no kind inside of functions and of initializers
    start = 0
    for brace in re.finditer(r'[{};]', code):
        outside = all(kind == 'scope' for kind, _, _ in open_braces)
        if brace[0] == '{':
            head = code[start:brace.start()]
            kind = kind_of(head) if outside else None
            label = re.match(r'\s*((public|protected|private):\s*)*', head).end()
            name = name_of(head) if kind in ('kernel', 'function') else ''
            open_braces.append((kind, start + label, name))
            if kind == 'scope':
                start = brace.end()
        elif brace[0] == ';':
            if outside:
                start = brace.end()
        else:
            kind, begin, name = open_braces.pop()
            if kind:
                start = brace.end()
            if name:
                yield kind, name, begin, brace.end()
    if open_braces:
        raise ValueError('braces do not match')


def count_lines(code):
    """Returns the number of lines that are not blank."""
    return sum(bool(line.strip()) for line in code.split('\n'))


def sizes(text):
    """Yields the kind, the name and the lines of the header and of its functions."""
    code = without(COMMENTS, text)
    yield 'header', '', count_lines(code)
    kernels = 0
    for kind, name, begin, end in functions(text):
        kernels += kind == 'kernel'
        yield kind, name, count_lines(code[begin:end])
    # This program reads only part of C++, so it counts the kernels in another way, too.
    defined = re.findall(r'__global__[^;{]*\{', without(NOT_CODE, text))
    if kernels != len(defined):
        raise ValueError(f'found {kernels} of {len(defined)} kernels')


def read_exceptions(text):
    """Returns the lines that each place may have: a kind, a path or path:function."""
    allowed = {}
    for line in text.split('\n'):
        if line and not line.startswith('#'):
            kind, place, number, reason = line.split(maxsplit=3)
            assert reason.endswith('.'), f'{place}: the reason is no sentence'
            allowed[kind, place] = int(number)
    return allowed


def findings(root, exceptions):
    """Returns a message for each header or function that is too long, and each idle exception."""
    messages, needed = [], set()
    allowed = read_exceptions(exceptions)

    def measure(kind, place, lines):
        limit = allowed.get((kind, place), LIMITS[kind])
        if lines > LIMITS[kind]:
            needed.add((kind, place))
            if lines < limit:
                messages.append(f'{place}: {lines} lines; the exception allows {limit}')
        if lines > limit:
            messages.append(f'{place}: {kind} of {lines} lines; at most {limit}')

    found = [path for folder in ALL_FOLDERS for path in (root / folder).rglob('*.[ch]*')]
    sources = sorted(path for path in found if path.suffix in ('.cpp', '.cu', '.hpp', '.cuh'))
    for path in sources:
        place, text = path.relative_to(root).as_posix(), path.read_text()
        measure('file', place, text.count('\n'))
        if path.suffix in ('.cpp', '.cu') or not place.startswith(FOLDERS):
            continue
        try:
            for kind, name, lines in sizes(text):
                measure(kind, f'{place}:{name}' if name else place, lines)
        except ValueError as error:
            messages.append(f'{place}: {error}')
    messages += [f'{place}: needs no exception' for _, place in sorted(allowed.keys() - needed)]
    return messages if sources else ['found no sources']


def check_controls():
    """Fails if `findings` does not find what is one line too long, or finds what has the limit."""
    def header(excess):
        def body(lines):
            return '{ // comment }\n\n' + '  f("{");\n' * (lines - 2) + '}\n'
        text = ('namespace a {\n' + 'struct b {\n public:\n  b(int i = {}) : c{i}, d(2) ' +
                body(40 + excess) + '};\nconstexpr int values[] = {1,\n 2};\n' +
                'template <class A = c<(1 > 2)>>\n__global__ void __launch_bounds__(f(1)) k() ' +
                body(59 + excess))
        return text + 'int i;\n' * (249 + excess - count_lines(text)) + '}  // namespace a\n'

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / FOLDERS[0] / 'a.cuh'
        test = pathlib.Path(folder) / 'tests' / 'a.cpp'
        for each in (file, test):
            each.parent.mkdir(parents=True)
        place = f'{FOLDERS[0]}/a.cuh'
        longer = f'header {place} 251 R.\nfunction {place}:b 41 R.\nfile tests/a.cpp 401 R.'
        for excess, exceptions, expected in [
                (0, '', []),
                (1, '', [f'{place}: header of 251 lines; at most 250',
                         f'{place}:b: function of 41 lines; at most 40',
                         f'{place}:k: kernel of 61 lines; at most 60',
                         'tests/a.cpp: file of 401 lines; at most 400']),
                (1, f'{longer}\nkernel {place}:k 61 R.', []),
                (1, f'{longer}\nkernel {place}:k 62 R.',
                 [f'{place}:k: 61 lines; the exception allows 62']),
                (0, f'kernel {place}:k 61 R.', [f'{place}:k: needs no exception'])]:
            file.write_text(header(excess))
            test.write_text('// a comment\n' * (400 + excess))
            found = findings(pathlib.Path(folder), exceptions)
            assert found == expected, f'expected {expected}, found {found}'


if __name__ == '__main__':
    check_controls()
    exceptions = pathlib.Path(__file__).with_name('size_exceptions.txt').read_text()
    found = findings(pathlib.Path(sys.argv[1]), exceptions)
    for message in found:
        print(message)
    sys.exit(bool(found))
