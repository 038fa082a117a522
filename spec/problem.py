"""The errors of the reference decoder: one class, with the permanent codes of spec/errors.md.

Every other file here raises it, and the tests compare its code with what the vectors say, so a
code must never be spelled anywhere but in the raise that it belongs to.
"""


class Problem(Exception):
    """Why bytes could not be unpacked: a code of spec/errors.md and a sentence for people."""

    def __init__(self, code, what):
        super().__init__(f"{code}: {what}")
        self.code = code


class Undecodable(Exception):
    """Why encoded bytes could not be decoded: `corrupt` or `not-json`, and what was found."""

    def __init__(self, kind, what):
        super().__init__(f"{kind}: {what}")
        self.kind = kind


def damaged(what):
    return Problem("damaged", what)


def corrupt(what):
    return Undecodable("corrupt", what)


def not_json(what):
    return Undecodable("not-json", what)
