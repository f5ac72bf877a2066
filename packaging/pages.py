"""Makes the manual page and the completions of shells from the program's own table of flags.

Usage: pages.py PROGRAM FOLDER: asks the program for its table and writes kyanite.1, kyanite.bash, _kyanite, kyanite.fish and
default (the variables, for /etc/default/kyanite) into the folder.
"""

import json
import pathlib
import re
import subprocess
import sys

NAMES = ["kyanite", "azurite", "azurite-blob", "azurite-queue", "azurite-table"]
PATHS = {"FILE": "file", "DIR": "directory"}  # What the values of flags are, for shells.


def flags_of(table):
    return [flag for section in table["sections"] for flag in section["flags"]]


def commands_of(program):
    """What the first word may be instead of a flag, with the text that the program has for it."""
    def shown(*words):
        return subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
    names = re.search(r"kyanite (\w+(?:\|\w+)+) ", shown())[1].split("|")
    return {name: shown(name) for name in names}


def command_flags(text):
    """The flags that the text of a command names."""
    return sorted(set(re.findall(r"(?<![\w-])--?[a-z]\w*", text)))


def spellings(flag):
    return [*([f"-{flag['letter']}"] if "letter" in flag else []), f"--{flag['name']}"]


def roff(text):
    """A dash is a minus to be copied; a first dot or quote would be a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def manual(table):
    lines = [f'.TH KYANITE 1 "" "kyanite {table["version"]}" "User Commands"', ".nh", ".SH NAME",
             "kyanite, azurite \\- server for the Azure Storage protocols", ".SH SYNOPSIS", ".B kyanite", ".RI [ FLAGS ]", ".br",
             ".B azurite", ".RI [ FLAGS ]", ".br", ".B kyanite", "|".join(table["commands"]), "[...]", ".SH DESCRIPTION",
             "Serves Blob, Queue, Table and File over REST, Data Lake, and File over SMB, from one directory.",
             "Called as azurite it serves what Azurite serves, and prints what Azurite prints;",
             "azurite\\-blob, azurite\\-queue and azurite\\-table serve one of the three.",
             "An acknowledged write survives a power cut."]
    for section in table["sections"]:
        lines += [f".SH {roff(section['title'].partition(' (')[0]).upper()}"]
        _, _, remark = section["title"].partition(" (")
        if remark:
            remark = remark.removesuffix(")")
            lines += [roff(remark[0].upper() + remark[1:]) + "."]
        for flag in section["flags"]:
            value = f" \\fI{roff(flag['value'])}\\fR" if "value" in flag else ""
            lines += [".TP", ", ".join(f"\\fB{roff(spelling)}\\fR" for spelling in spellings(flag)) + value, roff(flag["text"])]
            if "variable" in flag:
                lines += [f"({roff(flag['variable'])})"]
    lines += [".SH COMMANDS", "What the first word may ask for instead of serving."]
    for name, text in table["commands"].items():
        lines += [f".SS {name}", ".nf", *(roff(line) for line in text.rstrip().splitlines()), ".fi"]
    lines += [".SH ENVIRONMENT",
              "Each flag has the variable that is named with it; those without a value take true or false.",
              "The command line has the last word.", ".TP", ".BR KYANITE_ACCOUNTS \", \" AZURITE_ACCOUNTS",
              "name:key[:key2];name2:key...", ".TP", ".B KYANITE_BACKUP_SAS", "For backups in a container: the signature of its URL.", ".SH FILES", ".TP", ".I /etc/kyanite/kyanite.json",
              "Accounts, their settings and token issuers, for the service. Read again when it changes.", ".TP",
              ".I /etc/kyanite/accounts", "Accounts as in KYANITE_ACCOUNTS, one a line, for the service.", ".TP",
              ".I /etc/default/kyanite", "Variables of the service.", ".TP", ".I /var/lib/kyanite", "Data of the service.",
              ".SH SIGNALS",
              "SIGTERM and SIGINT end the server once requests in flight have ended; a second one ends it at once.", ""]
    return "\n".join(lines)


def bash(table):
    words = " ".join(spelling for flag in flags_of(table) for spelling in spellings(flag))
    by_kind = {kind: "|".join(spelling for flag in flags_of(table) if PATHS.get(flag.get("value")) == kind
                              for spelling in spellings(flag)) for kind in ("file", "directory")}
    others = "|".join(spelling for flag in flags_of(table) if "value" in flag and flag["value"] not in PATHS
                      for spelling in spellings(flag))
    commands = "\n".join(f'    {name}) mapfile -t COMPREPLY < <(compgen -f -W "{" ".join(command_flags(text))}" -- "$word") && return ;;'
                         for name, text in table["commands"].items())
    return f"""_kyanite() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  if [[ $COMP_CWORD -eq 1 && ${{COMP_WORDS[0]##*/}} == kyanite && $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "{" ".join(table["commands"])}" -- "$word")
    return
  fi
  [[ $COMP_CWORD -eq 1 ]] || case ${{COMP_WORDS[1]}} in
{commands}
  esac
  case $before in
    {by_kind["file"]}) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    {by_kind["directory"]}) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    {others}) COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$word") ;;
  esac
}}
complete -o filenames -F _kyanite {" ".join(NAMES)}
"""


def zsh(table):
    def spec(flag):
        text = flag["text"].replace("[", "(").replace("]", ")").replace("'", "'\\''").replace(":", "\\:")
        value = ""
        if "value" in flag:
            action = {"file": "_files", "directory": "_files -/"}.get(PATHS.get(flag["value"]), "")
            value = f":{flag['value']}:{action}"
        letters = spellings(flag)
        if len(letters) == 2:
            return f"  '({letters[0]} {letters[1]})'{{{letters[0]},{letters[1]}}}'[{text}]{value}'"
        return f"  '{letters[0]}[{text}]{value}'"

    specs = [spec(flag) for flag in flags_of(table)] + [f"  '1:command:({' '.join(table['commands'])})'", "  '*:file:_files'"]
    return f"#compdef {' '.join(NAMES)}\n_arguments \\\n" + " \\\n".join(specs) + "\n"


def fish(table):
    lines = []
    for name in NAMES:
        for flag in flags_of(table):
            letter = f" -s {flag['letter']}" if "letter" in flag else ""
            kind = PATHS.get(flag.get("value"))
            value = "" if "value" not in flag else (" -r -F" if kind else " -x")
            text = flag["text"].replace("'", "\\'")
            lines.append(f"complete -c {name}{letter} -l {flag['name']}{value} -d '{text}'")
    lines.append(f"complete -c kyanite -n __fish_use_subcommand -a '{' '.join(table['commands'])}'")
    return "\n".join(lines) + "\n"


def default(table):
    lines = ["# Settings of kyanite.service. Each is a flag of kyanite(1); those without a value take true or false.", "#"]
    for section in table["sections"]:
        for flag in section["flags"]:
            if "variable" not in flag or flag["name"] in ("location", "config", "pwd"):  # Secrets are not for a file that all may read.
                continue
            lines += [f"# {flag['text']}", f"#{flag['variable']}={flag.get('value', 'true')}"]
    return "\n".join(lines) + "\n"


PAGES = {"kyanite.1": manual, "kyanite.bash": bash, "_kyanite": zsh, "kyanite.fish": fish, "default": default}


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    table = json.loads(subprocess.run([program, "--describeFlags"], check=True, capture_output=True).stdout)
    table["commands"] = commands_of(program)
    for name, make in PAGES.items():
        (folder / name).write_text(make(table))


if __name__ == "__main__":
    main()
