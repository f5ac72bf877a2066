"""Holds the pages for readers against the sources: every folder of src/ has a README of a screen and a row in
docs/ARCHITECTURE.md, files that they name exist, links lead somewhere, the version is one, and the words of docs/GLOSSARY.md are those of the sources."""

import pathlib
import re
import sys

import layers

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
SCREEN_LINES = 50
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def folders():
    return sorted(path for path in SOURCES.iterdir() if path.is_dir())


def check_folders():
    architecture = (ROOT / "docs" / "ARCHITECTURE.md").read_text()
    rows = set(re.findall(r"`(\w+)/`", "\n".join(re.findall(r"^\| (`[^|]*) \|", architecture, re.M))))
    for folder in folders():
        if folder.name not in rows:
            yield f"docs/ARCHITECTURE.md: no row for src/{folder.name}/"
        readme = folder / "README.md"
        if not readme.exists():
            yield f"src/{folder.name}/: no README.md"
            continue
        text = readme.read_text()
        name = readme.relative_to(ROOT)
        if text.count("\n") > SCREEN_LINES:
            yield f"{name}: longer than a screen ({SCREEN_LINES} lines)"
        if any(folder.glob("*_test.cc")) and f"{folder.name}_test" not in text:
            yield f"{name}: does not say how its tests are run"
        for named in re.findall(r"`([\w/.-]+\.(?:h|cc|def|md|txt|py))`", text):
            if not any((base / named).exists() for base in (folder, SOURCES, ROOT)):
                yield f"{name}: there is no {named}"
    for gone in rows - {folder.name for folder in folders()}:
        yield f"docs/ARCHITECTURE.md: a row for {gone}/, which is not there"
    for gone in set(layers.read_rules(ROOT / "tools" / "layers.txt")) - {folder.name for folder in folders()}:
        yield f"tools/layers.txt: a line for {gone}, which is not there"


def parts_of(name):
    """The words that a name is made of: MessageId and message_id alike."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def check_words():
    page = (ROOT / "docs" / "GLOSSARY.md").read_text()
    names, types = set(), {}
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        text = NOISE.sub(" ", path.read_text())
        names |= set(re.findall(r"[A-Za-z_]\w*", re.sub(r"^\s*#.*", "", text, flags=re.M))) | {path.stem}
        if re.search(r"_(test|fuzz)\.cc$|test", path.name):
            continue
        for match in re.finditer(r"^\s*(?:class|struct|enum class)\s+(?:\[\[\w+\]\]\s+)?(?:\w+::)*([A-Z]\w*)\s*(?:final\s*)?(?::[^:;]|\{)",
                                 text, re.M):
            types.setdefault(match[1], set()).add(str(path.relative_to(SOURCES)))
    rows = re.findall(r"^\| ([a-z ]+) \| [^|]* \| ([^|]*`[^|]*) \|$", page, re.M)
    for word, named in rows:
        if [each for each, _ in rows].count(word) > 1:
            yield f"docs/GLOSSARY.md: {word} stands there twice"
        for name in re.findall(r"`([\w:]+)`", named):
            if name.split("::")[-1] not in names:
                yield f"docs/GLOSSARY.md: {word}: nothing is called {name}"
            elif "::" not in name and len(types.get(name, ())) > 1:
                yield f"docs/GLOSSARY.md: {word}: types called {name} are in {', '.join(sorted(types[name]))}"
    refused = re.search(r"They say nothing of what a thing does: ([^.]*)\.", page)
    if not rows or not refused:
        yield "docs/GLOSSARY.md: not in the form that tools/pages.py reads"
        return
    refused = set(refused[1].split(", "))
    for name in sorted(names):
        for part in refused & set(parts_of(name)):
            yield f"src/: {name} is a name with the word {part} (docs/GLOSSARY.md)"


def anchors(page):
    """What a link can point to within a page: its headings, as the usual renderers spell them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def check_links():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *SOURCES.rglob("*.md"), *ROOT.glob("tests/*/*.md"), *ROOT.glob("packaging/**/*.md")]
    for page in sorted(pages):
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^()\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            name = page.relative_to(ROOT)
            if not found.exists():
                yield f"{name}: a link to {target}, which is not there"
            elif anchor and (found.suffix != ".md" or anchor not in anchors(found)):
                yield f"{name}: a link to {target}, where there is no such heading"


def check_version():
    """The newest version of the changelog is that of the sources."""
    ours = re.search(r'kVersion = "([^"]+)"', (SOURCES / "server" / "options.h").read_text())[1]
    newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    if newest != ours:
        yield f"CHANGELOG.md: begins with {newest}, the sources are {ours}"


def check():
    return [*check_folders(), *check_words(), *check_links(), *check_version()]


if __name__ == "__main__":
    found = check()
    print("\n".join(found) if found else "the pages hold")
    sys.exit(1 if found else 0)
