"""Whether a criticism objects at all, or agrees with what it is to attack; for English, by words.

A critic that says yes in the form of a criticism is the failure that the review pattern warns of most: there seems to
be scrutiny, and there is none. Two things can be found by words:

    agreement   the criticism calls what it attacks right, sound or convincing, or asks for it to go ahead. Where the
                same sentence says before that this is denied, assumed, supposed or somebody else's opinion ("nothing
                shows that the clause is sound", "even if it is true"), it is no agreement.
    objection   there is at least one word of denial, lack, doubt, failure, loss or danger. Hardly an objection can be
                written without one, and praise mostly is: what lowers, prevents or covers a loss is not counted. Such
                a word proves nothing; its absence does.

Both tables are ours and English. In other languages neither is applied: an unknown word must not make a critique weak.
"""

from __future__ import annotations

import re

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
"""Phrases in small letters by which a critic agrees."""

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


def agreement_in(text: str) -> tuple[str, ...]:
    """The phrases of ``text`` that agree with what is attacked, as they stand there, each once; English only."""
    return tuple(
        dict.fromkeys(
            " ".join(found.group().split())
            for sentence in _SENTENCE.finditer(text)
            for found in _AGREES.finditer(sentence.group())
            if not _GUARDED.search(sentence.group()[: found.start()])
        )
    )


def objects(text: str) -> bool:
    """Whether ``text`` has a word of denial, lack, doubt, failure, loss or danger; English only."""
    return _OBJECTS.search(_RELIEF.sub(" ", text)) is not None
