"""How turns are judged: rubrics, scores, fallacies, standings, panels, votes, agreement. Arithmetic is code's."""

from disputatio.judging.agreement import (
    Agreement,
    Level,
    Rating,
    Ratings,
    Weighting,
    cohen_kappa,
    fleiss_kappa,
    kendall_w,
    krippendorff_alpha,
)
from disputatio.judging.blinding import Blinding, blind, both_orders
from disputatio.judging.calibration import Calibration, Curve, Deviation, KnownItem, calibrate, deviation
from disputatio.judging.consensus import AgreedPoint, agreed_points
from disputatio.judging.dawid_skene import JudgeLabel, Reliability, reliability
from disputatio.judging.fallacies import FALLACIES, Fallacy, FoundFallacy, words_are_in
from disputatio.judging.gradual import exchange_strength
from disputatio.judging.inflation import Inflation, ScoreSpread, score_spread
from disputatio.judging.judge_scores import TIE, JudgeScores
from disputatio.judging.known_answers import AnswerReport, answer_report
from disputatio.judging.panel_agreement import panel_agreement, panel_ratings
from disputatio.judging.panel_verdict import JudgeFinding, Orders, PanelMethod, PanelStatus, PanelVerdict
from disputatio.judging.panels import Panel
from disputatio.judging.peer_rank import PeerRank, Review, rank_peers
from disputatio.judging.polls import Poll, PollOutcome, PollRule, final_vote_winner, swing_winner
from disputatio.judging.retests import RetestReport, ScoreChange, retest
from disputatio.judging.rubric import EVIDENCE_FIRST, RUBRICS, STANDARD, Criterion, Rubric
from disputatio.judging.scoring import Edge, edge, gap_text, mean, rounded, weighted
from disputatio.judging.standing import Exchange, Mark, Reply, Standing, combined_mark, computed_standing, worst_mark
from disputatio.judging.swapping import Swap, SwapPair, SwapReport, after_swap, right_beats_wrong, swap_report
from disputatio.judging.votes import (
    MAJORITY,
    PLURALITY,
    UNANIMITY,
    Ballot,
    Rule,
    Silence,
    VoteOutcome,
    VotingRule,
    by_weight,
    count_votes,
    latest_ballots,
    super_majority,
    threshold,
)
from disputatio.judging.weights import Weights

__all__ = [
    "EVIDENCE_FIRST",
    "FALLACIES",
    "MAJORITY",
    "PLURALITY",
    "RUBRICS",
    "STANDARD",
    "TIE",
    "UNANIMITY",
    "AgreedPoint",
    "Agreement",
    "AnswerReport",
    "Ballot",
    "Blinding",
    "Calibration",
    "Criterion",
    "Curve",
    "Deviation",
    "Edge",
    "Exchange",
    "Fallacy",
    "FoundFallacy",
    "Inflation",
    "JudgeFinding",
    "JudgeLabel",
    "JudgeScores",
    "KnownItem",
    "Level",
    "Mark",
    "Orders",
    "Panel",
    "PanelMethod",
    "PanelStatus",
    "PanelVerdict",
    "PeerRank",
    "Poll",
    "PollOutcome",
    "PollRule",
    "Rating",
    "Ratings",
    "Reliability",
    "Reply",
    "RetestReport",
    "Review",
    "Rubric",
    "Rule",
    "ScoreChange",
    "ScoreSpread",
    "Silence",
    "Standing",
    "Swap",
    "SwapPair",
    "SwapReport",
    "VoteOutcome",
    "VotingRule",
    "Weighting",
    "Weights",
    "after_swap",
    "agreed_points",
    "answer_report",
    "blind",
    "both_orders",
    "by_weight",
    "calibrate",
    "cohen_kappa",
    "combined_mark",
    "computed_standing",
    "count_votes",
    "deviation",
    "edge",
    "exchange_strength",
    "final_vote_winner",
    "fleiss_kappa",
    "gap_text",
    "kendall_w",
    "krippendorff_alpha",
    "latest_ballots",
    "mean",
    "panel_agreement",
    "panel_ratings",
    "rank_peers",
    "reliability",
    "retest",
    "right_beats_wrong",
    "rounded",
    "score_spread",
    "super_majority",
    "swap_report",
    "swing_winner",
    "threshold",
    "weighted",
    "words_are_in",
    "worst_mark",
]
