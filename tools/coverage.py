"""Prints docs/COVERAGE.md from the operation tables in src/*/operations.cc; with --write, writes it."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "COVERAGE.md"
SERVICES = {"blob": "Blob", "datalake": "Data Lake", "queue": "Queue", "table": "Table", "file": "File"}

# Differences from Azure that remain on purpose, by service.
REMARKS = {
    "blob": [
        "A container's name is free again as soon as it is deleted, unless the account's settings keep it taken.",
        "Rehydration from the archive takes a configured time (60 s) instead of hours.",
        "Query Blob Contents reads CSV and JSON; Parquet is 501 NotImplemented. Records may have 1 MiB. Where neither the "
        "reference nor recordings say what an expression is worth, docs/decisions/blob-queries.md does.",
        "The Apache Arrow form of List Blobs is not offered.",
        "Encryption scopes are not offered: naming one is 409 EncryptionScopeNotAvailable.",
        "Customer-provided keys are accepted over TLS and from the machine itself; properties and metadata are not encrypted.",
        "Get Blob Service Properties has no DefaultServiceVersion until one is set.",
        "Uncommitted blocks are counted at one block in 256, so a blob may have a few hundred more than 100,000 of them.",
        "`startFrom` of List Blobs is a whole name, not one below the prefix.",
        "List Blobs has no Url elements in versions before 2013-08-15.",
        "Tokens for a directory (`sr=d`) are honoured although names are flat; they list by prefix and do not find by tags.",
        "x-ms-tag-count, TagCount and conditions on tags are for callers that may read tags: the owner, bearers of tokens and SAS "
        "with `t`.",
        "Tokens with letters in `sp` that their service has no permission for are refused as not well formed, as are unknown "
        "letters in stored access policies; the reference is silent.",
        "What `deletetype=permanent` cannot delete although it is allowed is 409 BlobOperationNotSupported; the reference names no "
        "code.",
        "LinePosition of an error in service properties is that of the section, but for retention policies.",
        "Set Blob Expiry takes a hierarchical namespace, as in Azure, or a setting of the account.",
        "A customer-provided key that is malformed is not repeated in the error.",
        "Replies recorded in 2019 name a Content-MD5 where version 2019-02-02 has a CRC-64, as does Append Block From URL of an "
        "open range once. A 304 of Get Page Ranges has a Content-Type in some recordings and none in others, and "
        "x-ms-request-server-encrypted of snapshots and copies is not always what it is elsewhere.",
        "A source MD5 that is nearly base64 is refused; the service reads it as far as it can.",
        "In lists the names are in the order of their bytes; recordings of the command line blank names after that.",
        "Containers cannot be renamed, as in Azure outside of its test stages.",
    ],
    "file": [
        "A share's name is free again as soon as it is deleted, unless the account's settings keep it taken.",
        "Quotas, access tiers and provisioned figures of shares are kept and shown; nothing is limited or slowed by them.",
        "Get Share Stats adds up the lengths of the files, sparse parts included.",
        "Snapshots of a share taken within one second are named by the seconds that follow.",
        "Permissions are kept and shown; clients of SMB are granted access by them, those of REST are not. `inherit` gives every file the same default, "
        "not one made from its parent's. Aliases that mean a domain (DA, DU...) are refused, since there is no domain.",
        "A file marked for deletion over SMB answers SMBDeletePending, as the page on file locks has it; the table of error codes "
        "says DeletePending.",
        "Force Close Handles never deletes a file, even when its last handle was to delete it.",
        "Symbolic and hard links, which only NFS shares have, are not offered.",
        "An unknown snapshot of a share is ShareSnapshotNotFound, as the service has it today, from version 2021-08-06 on; "
        "recordings up to 2021-06-08 show ShareNotFound. Deleting one is ShareSnapshotNotFound in every version.",
        "A share's quota is 5,120 GiB unless set; new accounts of Azure have 102,400.",
        "x-ms-server-encrypted is false of a root directory of which nothing was set; the service shows it of emptied metadata, too.",
        "A file notes 64 cleared ranges at most; beyond that a difference may list as cleared what never held anything.",
    ],
    "datalake": [
        "Comes to the port of blobs and is told apart by the host name (`ACCOUNT.dfs.*`), `resource`, `action`, `recursive`, PATCH, "
        "x-ms-rename-source, POST with x-ms-lease-action, or an Accept that begins with application/json.",
        "Between a file system with hierarchical namespace and one without, nothing is renamed: 501 NotImplemented.",
        "Data Lake appends to what Put Blob made as a whole; of what is made of blocks it is documented that the service does not.",
        "Without hierarchical namespace the service refuses Data Lake where soft delete is on; here it works, and renames and deletions "
        "leave what the Blob API leaves.",
        "One flush takes at most 50,000 appended parts.",
        "With hierarchical namespace, deleting or renaming a directory does not look for leases of what lies below it.",
    ],
    "queue": [
        "A pop receipt that is no base64, or too short for one of the first 1,024 messages, is malformed (400 "
        "InvalidQueryParameterValue); every other one that was not given out last is 404 MessageNotFound.",
        "Too many CORS rules are told by their reason; recordings of the service have line 0 and none.",
    ],
    "table": [
        "`$top=0` gives no entities and no continuation token; above 1,000 it is 400, as the page on query operators has it.",
        "`$orderby`, `$skip`, `$skiptoken`, `$expand`, `$inlinecount`, `$count` and the functions of OData in `$filter` are 501 NotImplemented; "
        "other unknown options are ignored.",
        "What is below a table's name in a path is taken for an entity: TableNotFound, else 501 to reads, ResourceNotFound with "
        "If-Match, InvalidInput without.",
    ],
}


def rows(text):
    """The rows of a table as lists of their top-level items."""
    start = text.index("kOperations")
    depth, item, items = 0, "", []
    in_string = False
    for c in text[text.index("{", start) :]:
        if c == '"':
            in_string = not in_string
        if not in_string and c == "}":
            depth -= 1
            if depth == 1:
                items.append(item.strip())
                yield items
                items, item = [], ""
                continue
            if depth == 0:
                return
        if depth >= 2 and not (depth == 2 and c == "," and not in_string):
            item += c
        elif depth == 2:
            items.append(item.strip())
            item = ""
        if not in_string and c == "{":
            depth += 1


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def table(folder):
    text = without_comments((ROOT / "src" / folder / "operations.cc").read_text())
    for items in rows(text):
        name, identity, method = (item.strip('"') for item in items[:3])
        # name, id, method, level, restype, comp, selectors, need, handler, further selectors
        served = len(items) > 8 and items[8] not in ("", "nullptr")
        yield name, identity, method, served


def page():
    out = [
        "# Coverage",
        "",
        "Every operation of the protocol and whether this server serves it. Made from the operation tables by",
        "`tools/coverage.py`; what is not served answers 501 with the operation's name.",
    ]
    for folder, service in SERVICES.items():
        if not (ROOT / "src" / folder / "operations.cc").exists():
            out += ["", f"## {service}", "", "Not served yet."]
            continue
        operations = list(table(folder))
        served = sum(1 for row in operations if row[3])
        out += ["", f"## {service}: {served} of {len(operations)}", "", "| operation | id | method | served |", "|---|---|---|---|"]
        for name, identity, method, is_served in operations:
            out.append(f"| {name} | {identity} | {method} | {'yes' if is_served else 'no'} |")
        if folder in REMARKS:
            out += ["", "Where it differs from Azure:", ""]
            out += [f"- {remark}" for remark in REMARKS[folder]]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page())
    else:
        print(page(), end="")
