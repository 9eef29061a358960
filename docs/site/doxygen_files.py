# SPDX-License-Identifier: BSD-3-Clause
"""Changes of Doxygen's XML files, so that Breathe makes one section of each header."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

Element = ElementTree.Element


def prepare(xml: Path) -> list[str]:
    """Change the files, and return the headers that declare public names.

    In the list of files each one gets its path, because several have the same name. The members of
    a namespace move to the files that declare them, with qualified names; Breathe would declare the
    namespace once for each file. The comment of a file is removed, because the pages show it in the
    form that it has in the source. Private members are removed.
    """
    trees = {path.name: ElementTree.parse(path) for path in sorted(xml.glob("*.xml"))}
    compounds = [c for tree in trees.values() for c in tree.findall("compounddef")]
    files = {_place(c): c for c in compounds if c.get("kind") == "file"}
    headers = set()
    for compound in compounds:
        _simplify(compound)
        if compound.get("kind") == "file":
            _make_empty(compound)
    for compound in compounds:
        if compound.get("kind") == "namespace":
            headers |= _move_members(compound, files)
        elif compound.get("kind") not in ("file", "dir", "page"):
            headers.add(_place(compound))
            _remove_private(compound)
    _merge_constrained(compounds, files)
    for compound in trees["index.xml"].findall("compound[@kind='file']"):
        compound.find("name").text = _place(trees[f"{compound.get('refid')}.xml"].find("compounddef"))
    for name, tree in trees.items():
        tree.write(xml / name, encoding="utf-8", xml_declaration=True)
    return sorted(h for h in headers if h.startswith("ramify/") and "/detail/" not in h)


def _place(element: Element) -> str:
    location = element.find("location")
    return "" if location is None else location.get("file", "")


def _make_empty(file: Element) -> None:
    """Remove the comment of a file and the namespaces in it."""
    for kind in ("briefdescription", "detaileddescription"):
        for description in file.findall(kind):
            description.clear()
    for namespace in file.findall("innernamespace"):
        file.remove(namespace)


def _move_members(namespace: Element, files: dict[str, Element]) -> set[str]:
    """Move the members of a namespace to their files, and return these."""
    name = namespace.findtext("compoundname")
    headers = set()
    for section in namespace.findall("sectiondef"):
        for member in section.findall("memberdef"):
            place = _place(member)
            if place not in files or not name.startswith("ramify"):
                continue
            member.find("name").text = f"{name}::{member.findtext('name')}"
            kind = section.get("kind")
            target = files[place].find(f"sectiondef[@kind='{kind}']")
            if target is None:
                target = ElementTree.SubElement(files[place], "sectiondef", kind=kind)
            target.append(member)
            headers.add(place)
        namespace.remove(section)
    return headers


def _merge_constrained(compounds: list[Element], files: dict[str, Element]) -> None:
    """Give the specialization of a template for all arguments that satisfy a constraint its name.

    The primary template, which refuses other arguments, is not shown. Sphinx cannot distinguish
    the two.
    """
    names = {compound.findtext("compoundname") for compound in compounds}
    for compound in compounds:
        name, mark, arguments = compound.findtext("compoundname").partition("< ")
        parameters = [
            parameter.findtext("declname") or parameter.findtext("type").split()[-1]
            for parameter in compound.findall("templateparamlist/param")
        ]
        if not mark or name not in names or arguments != ", ".join(parameters) + " >":
            continue
        compound.find("compoundname").text = name
        file = files[_place(compound)]
        for inner in file.findall("innerclass"):
            if inner.text == name:
                file.remove(inner)
            elif inner.get("refid") == compound.get("id"):
                inner.text = name


def _remove_private(compound: Element) -> None:
    for section in compound.findall("sectiondef"):
        if section.get("kind", "").startswith("private"):
            compound.remove(section)


def _simplify(compound: Element) -> None:
    """Replace what Breathe, or the C++ parser of Sphinx, does not accept."""
    for parent in list(compound.iter()):
        for parameters in parent.findall("parameterlist[@kind='exception']"):
            parent.insert(list(parent).index(parameters), _exceptions_as_text(parameters))
            parent.remove(parameters)
        for kind in ("initializer", "defval"):
            value = parent.find(kind)
            if value is not None and "{." in "".join(value.itertext()):  # a designated initializer
                parent.remove(value)


def _exceptions_as_text(parameters: Element) -> Element:
    """Return a paragraph of a list of exceptions, whose first words Doxygen takes for names."""
    section = Element("simplesect", kind="par")
    ElementTree.SubElement(section, "title").text = "Throws"
    names: list[str] = []
    for item in parameters.findall("parameteritem"):
        names += ["".join(n.itertext()).strip() for n in item.findall("parameternamelist")]
        text = item.find("parameterdescription/para")
        if text is not None and "".join(text.itertext()).strip():
            text.text = f"{', '.join(names)} {text.text or ''}"
            section.append(text)
            names = []
    if names:
        ElementTree.SubElement(section, "para").text = ", ".join(names)
    return section
