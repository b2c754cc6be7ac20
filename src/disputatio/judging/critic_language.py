"""English words by which a critic softens, agrees or objects.

A criticism is a direct claim. Softening weakens it, agrees before it objects, or praises its target; each occurrence is
a violation. Words in quotation marks belong to someone else and are ignored. Source: the review pattern, which forbids
a critic softening language such as "while I acknowledge" and "this is generally reasonable but". The rest of the table
is our choice of phrases with hardly another use in a criticism, so it has no plain "may" or "but".

A critic that says yes in the form of a criticism fakes scrutiny. Two signs are found by words:

    agreement   the criticism calls its target right, sound or convincing, or asks for it to go ahead; unless the same
                sentence says before that this is denied, assumed or another's opinion ("nothing shows that the clause
                is sound", "even if it is true").
    objection   there is a word of denial, lack, doubt, failure, loss or danger. Hardly an objection does without, and
                praise mostly does; what lowers, prevents or covers a loss is not counted. Such a word proves nothing,
                its absence does.

Both tables are ours. Other languages have neither: an unknown word must not weaken a critique.
"""

from __future__ import annotations

import re

_SOFTENING_TEXT = """
while i acknowledge / i acknowledge that / while i agree / i agree with / i agree that / i concede that /
i accept that / i understand that / i appreciate / admittedly / to be fair / in fairness / i grant that / that said /
having said that / generally reasonable / largely reasonable / mostly reasonable / generally sound / largely sound /
broadly sound / broadly correct / largely correct / generally correct / is reasonable, but / is reasonable but /
is valid, but / is valid but / makes sense, but / makes sense but / a good point / a fair point / a valid point /
good points / valid points / well-reasoned / well reasoned / well-intentioned / has merit / have merit /
has its merits / only a minor / a minor concern / a minor issue / minor concerns / a slight concern / a small concern
/ might want to consider / may want to consider / could perhaps / might perhaps / it might be worth / it may be worth
/ somewhat concerning / perhaps a little / not necessarily wrong / with all due respect / no serious objection /
overall i support / on balance i support
"""
SOFTENING = tuple(phrase.strip() for phrase in _SOFTENING_TEXT.split("/"))
"""Softening phrases in small letters."""

_OPENING = re.compile(r"[\"“„«]|(?<!\w)['‘]")
_INSIDE = {
    mark: re.compile(inside)
    for mark, inside in {
        '"': r"[^\"\n]*+",
        "“": r"[^”\n]*+",
        "„": r"[^“”\n]*+",
        "«": r"[^»\n]*+",
        "'": r"[^'\n]++",
        "‘": r"[^’\n]++",
    }.items()
}
_CLOSING = {
    mark: re.compile(closing)
    for mark, closing in {'"': '"', "“": "”", "„": "[“”]", "«": "»", "'": r"'(?!\w)", "‘": r"’(?!\w)"}.items()
}
_PHRASES = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(row).replace(r"\ ", r"\s+") for row in SOFTENING) + r")(?!\w)", re.IGNORECASE
)


def find_softening(text: str) -> tuple[str, ...]:
    """Return the softening phrases outside quotation marks, as written, each once."""
    plain = _strip_quotes(text.replace("’s", "'s"))
    return tuple(dict.fromkeys(" ".join(found.group().split()) for found in _PHRASES.finditer(plain)))


def _strip_quotes(text: str) -> str:
    """Replace each quote by a space; a mark that is not closed on its line stays.

    If an opening mark is not closed, later ones of its kind are not tried again, which keeps this linear.
    """
    parts: list[str] = []
    end, tried = 0, dict.fromkeys(_INSIDE, 0)
    for opening in _OPENING.finditer(text):
        mark, start = opening.group(), opening.start()
        if start < end or start < tried[mark]:
            continue
        inside = _INSIDE[mark].match(text, opening.end())
        closing = _CLOSING[mark].match(text, inside.end()) if inside else None
        if closing:
            parts.append(text[end:start])
            end = closing.end()
        elif inside:
            tried[mark] = inside.end()
    return " ".join([*parts, text[end:]])


AGREEMENT = (
    *("i agree", "we agree", "one must agree", "i fully support", "i support", "we support", "i endorse", "we endorse"),
    *("the proposer is right", "the proposition is right", "the proposal is right", "is right that", "is right to say"),
    *("rightly says", "rightly notes", "rightly argues", "rightly points out", "rightly identifies", "rightly assumes"),
    *("correctly says", "correctly notes", "correctly argues", "correctly points out", "correctly identifies"),
    *("correctly shows", "correctly states", "correctly concludes", "convincingly shows", "convincingly argues"),
    *("is convincing", "is persuasive", "is compelling", "is sound", "is correct", "is justified", "is reasonable"),
    *("are convincing", "are persuasive", "are compelling", "are sound", "are correct", "are justified"),
    *("are reasonable", "is well supported", "is well founded", "is well argued", "is well thought out", "is solid"),
    *("makes sense", "makes a strong case", "makes a good case", "makes a convincing case", "a strong argument"),
    *("a strong point", "a strong case for", "an excellent point", "an excellent argument", "a good argument"),
    *("a convincing argument", "a solid argument", "strengthens the case", "strengthens the proposal"),
    *("supports the proposition", "supports the proposal", "supports the claim", "supports the thesis"),
    *("confirms the proposition", "confirms the proposal", "confirms the claim", "confirms the thesis"),
    *("speaks for the proposal", "should be adopted", "should go ahead", "should be approved", "can be signed"),
    *("deserves support", "worth supporting", "no objection", "no real objection", "nothing to object"),
    *("nothing wrong", "hard to disagree", "difficult to disagree", "hard to fault", "cannot be faulted", "looks good"),
    *(
        "seems fine",
        "seems reasonable",
        "seems sound",
        "seems right",
        "appears reasonable",
        "appears sound",
        "on the right track",
    ),
)
"""Lower-case phrases by which a critic agrees."""

_GUARDS = (
    r"not|never|no|nothing|nobody|none|neither|nor|cannot|can't|n't|without|hardly|if|unless|whether|until|only when|"
    r"assum\w+|presum\w+|suppos\w+|granted|pretend\w*|claim\w*|says?|said|assert\w*|believ\w+|alleg\w+|treat\w*|calls?|"
    r"argues?|concludes?|doubt\w*|why|far from|instead of"
)
_OBJECTION = (
    # denial and lack
    r"not|no|nor|none|never|nothing|nobody|nowhere|neither|cannot|without|lacks?|lacking|missing|omits?|omitted|"
    r"ignor\w+|overlook\w+|neglect\w+|forgets?|silent|unclear|unknown|unstated|unmeasured|unproven|untested|"
    r"un\w+ed|insufficient\w*|inadequate\w*|incomplete\w*|"
    r"too (?:few|little|late|short|small|many|much|long|narrow|weak)|"
    # doubt and bad reasoning
    r"assum\w+|presum\w+|presuppos\w+|granted|doubt\w*|contradict\w*|confus\w+|conflat\w+|mis\w{4,}|overstat\w+|"
    r"understat\w+|exaggerat\w+|cherry-pick\w*|circular|fallac\w+|wrong\w*|false\w*|invalid\w*|irrelevant|"
    r"only|merely|alone|instead|rather than|hides?|hidden|conceal\w*|"
    # failure, loss, danger
    r"fail\w*|fault\w*|flaw\w*|defect\w*|break\w*|broke\w*|collaps\w+|caus\w+|crash\w*|crumbl\w*|wors\w+|harm\w*|hurt\w*|damag\w+|"
    r"los[st]\w*|losing|loses?|expos\w+|risk\w*|danger\w*|threat\w*|attack\w*|wip(?:e|es|ed|ing)|stolen|thefts?|steals?|ransom\w*|malware|compromis\w+|exploit\w*|breach\w*|liab\w+|penalt\w+|"
    r"fines?|void|unlawful|illegal\w*|violat\w+|costly|expensive|exceed\w*|overrun\w*|delay\w*|late|burden\w*|"
    r"shrink\w*|vanish\w*|erod\w+|evaporat\w+|lapse\w*|expire\w*|stall\w*|strand\w*|lock\w*|trap\w*|stuck|"
    r"declin\w+|weaken\w*|powerless|useless|worthless|meaningless|undermin\w+|defeat\w*|destroy\w*|abandon\w*|refus\w+|reject\w*|"
    r"walks? away|however|yet|despite|although|even (?:if|then|though)|whoever|anyone|impossible|inability|unable"
)
_AGREES = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(row).replace(r"\ ", r"\s+") for row in AGREEMENT) + r")(?!\w)", re.IGNORECASE
)
_GUARDED = re.compile(rf"(?<!\w)(?:{_GUARDS})(?!\w)|n['’]t(?!\w)", re.IGNORECASE)
_OBJECTS = re.compile(rf"(?<!\w)(?:{_OBJECTION})(?!\w)|n['’]t(?!\w)", re.IGNORECASE)
_RELIEF = re.compile(
    r"(?<!\w)(?:cut\w*|lower\w*|reduc\w+|halv\w+|prevent\w*|avoid\w*|limit\w*|remov\w+|eliminat\w+|protect\w*|guard\w*|"
    r"mitigat\w+|cover\w*|lessen\w*|minimi[sz]\w+|sav(?:e|es|ed|ing)|less|fewer|no|without)"
    r"(?:\s+(?!not\b|no\b|never\b)\w+){0,3}?\s+"
    r"(?:risk|cost|delay|loss|harm|damage|fault|failure|danger|threat|attack|breach|penalt|fine|error|liabilit|exposure)\w*(?:\s+of\s+\w+)?",
    re.IGNORECASE,
)
"""Good news about something bad."""
_SENTENCE = re.compile(r"[^.!?;]+")


def find_agreement(text: str) -> tuple[str, ...]:
    """Return the phrases that agree with the target, as written, each once; English only."""
    return tuple(
        dict.fromkeys(
            " ".join(found.group().split())
            for sentence in _SENTENCE.finditer(text)
            for found in _AGREES.finditer(sentence.group())
            if not _GUARDED.search(sentence.group()[: found.start()])
        )
    )


def has_objection(text: str) -> bool:
    """Whether ``text`` has a word of denial, lack, doubt, failure, loss or danger; English only."""
    return _OBJECTS.search(_RELIEF.sub(" ", text)) is not None
