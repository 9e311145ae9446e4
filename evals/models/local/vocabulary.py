"""What names of parameters say about the values they take, in English."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


FREE_TEXT = _set(
    "query queries q text message messages msg pattern prompt question search keyword keywords content "
    "body description input term terms topic task subject instruction instructions note comment "
    "sentence goal request summary title"
)
"""Words in the names of parameters that take what somebody says as it is."""
KINDS_OF_VALUE = (
    (_set("url link href website webpage site endpoint uri"), ("url",)),
    (_set("email mail recipient"), ("email",)),
    (_set("path file filename filepath folder directory dir"), ("path", "file")),
    (_set("date day deadline since until birthday birthdate departure"), ("date",)),
    (_set("time hour"), ("time", "date")),
    (_set("id sha commit hash ticket issue number key code"), ("code", "number")),
    (
        _set(
            "location city place country state region origin destination source target name author artist user "
            "username person company brand owner team title movie song book language currency"
        ),
        ("proper",),
    ),
)
"""Words in a parameter's name, and the kinds of value that it then takes, see `values`."""
KINDS_OF_FORMAT = {
    "uri": ("url",),
    "url": ("url",),
    "email": ("email",),
    "date": ("date",),
    "date-time": ("date",),
    "time": ("time",),
}
"""The same, by JSON Schema's `format`."""
PREPOSITIONS = (
    (_set("from origin source start departure"), _set("from")),
    (_set("to destination target end arrival recipient receiver"), _set("to")),
    (_set("author artist by"), _set("by")),
)
"""Words in a parameter's name, and what stands before its value."""
OTHER_PREPOSITIONS = _set("in at near around of for from to by with")
SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""How a boolean is said."""
OPENERS = _set(
    "a about add after all also an analyze and any are at before between book buy by calculate can check compute "
    "convert could create delete determine do does during every find for from generate get give hello help hi how i "
    "i'd i'll i'm i've identify if in is it let list look make may my near now of on one open order play please "
    "provide retrieve run schedule search send set should show since some tell the their then there these this to "
    "translate under update use we what what's when where which who why will with within would write you"
)
"""Words that begin a sentence with a capital without being a name."""
