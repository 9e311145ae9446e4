"""Languages of queries, as tags name them."""

from __future__ import annotations

from toolbelt.evals.cases.case import Case

_NAMES = """
afrikaans albanian amharic arabic armenian azerbaijani basque belarusian bengali bosnian bulgarian burmese
catalan chinese croatian czech danish dutch english estonian filipino finnish french galician georgian
german greek gujarati hausa hebrew hindi hungarian icelandic igbo indonesian irish italian japanese kannada
kazakh khmer korean kurdish lao latvian lithuanian macedonian malay malayalam marathi mongolian nepali
norwegian pashto persian polish portuguese punjabi romanian russian serbian sinhala slovak slovenian somali
spanish swahili swedish tamil telugu thai tibetan turkish ukrainian urdu uzbek vietnamese welsh xhosa yoruba
zulu
"""
LANGUAGES = frozenset(_NAMES.split())
"""Their English names."""


def find_languages(case: Case) -> tuple[str, ...]:
    """The languages that a case is tagged with, in lower case."""
    return tuple(language for tag in case.tags if (language := tag.casefold()) in LANGUAGES)
