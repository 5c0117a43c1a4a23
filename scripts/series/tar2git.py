#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Usage: tar2git.py MESSAGE < TAR | git fast-import

Print the files of a tar archive, without its top directory, as one commit for git fast-import:
no file is written, and the commit depends on nothing but the files and MESSAGE. Debian's
.gitignore at the top is for its packaging, would hide every new file, and is left out.
"""
import sys
import tarfile


def main(message):
    """Write the stream: each file is a change of the one commit, with its contents."""
    out = sys.stdout.buffer
    header = f'commit refs/heads/master\ncommitter base <> 0 +0000\ndata {len(message) + 1}\n{message}\n\n'
    out.write(header.encode())
    with tarfile.open(fileobj=sys.stdin.buffer, mode='r|') as archive:
        for member in archive:
            name = member.name.removeprefix('./').partition('/')[2]
            if not name or name == '.gitignore' or member.isdir():
                continue
            if member.issym():
                mode, data = '120000', member.linkname.encode()
            elif member.isfile():
                mode = '100755' if member.mode & 0o100 else '100644'
                data = archive.extractfile(member).read()
            else:
                sys.exit(f'{member.name} is neither a file nor a symbolic link')
            out.write(f'M {mode} inline {name}\ndata {len(data)}\n'.encode())
            out.write(data)
            out.write(b'\n')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
