"""Critiques of packaged cases, written by hand: some object in earnest, some agree in the form of criticism."""

from __future__ import annotations

# By case: thesis, then target, line of attack, claim and reasoning of each criticism.
EARNEST: dict[str, tuple[str, tuple[tuple[str, str, str, str], ...]]] = {
    "liability-cap": (
        "The agreement leaves every serious loss with the customer.",
        (
            (
                "PROP-1",
                "hidden_assumption",
                "The cap protects the supplier, not the buyer.",
                "Twelve monthly fees are small beside one lost trading day, and clause 14.2 excepts no negligence.",
            ),
            (
                "PROP-3",
                "misread_evidence",
                "Schedule B ends the credits at ten percent of a monthly fee and shuts out damages.",
                "After five hours the credit stops growing, and as the sole remedy it bars the actual loss.",
            ),
            (
                "PROP-2",
                "tail_risk",
                "Ninety days of notice are useless when the supplier is insolvent.",
                "An administrator may switch machines off within a week, and no clause gives access to the data.",
            ),
            (
                "PROP-1",
                "harm_if_true",
                "A known worst case invites careless operation.",
                "Where liability cannot exceed the fees of a year, saving on redundant hardware pays for the supplier.",
            ),
        ),
    ),
    "auto-renewal": (
        "The licence binds the buyer for six years unless somebody watches a calendar.",
        (
            (
                "PROP-2",
                "misread_evidence",
                "Clause 3 renews the licence by itself for another 36 months.",
                "Notice counts only between day 180 and day 150 before the end; a letter a week later is void.",
            ),
            (
                "PROP-1",
                "hidden_assumption",
                "Thirty percent off list says nothing about the price that others pay.",
                "List prices are an opening bid; no comparison with a yearly contract or a competitor was made.",
            ),
            (
                "PROP-3",
                "tail_risk",
                "Support at gold level ends when the vendor discontinues the product.",
                "Annex 2 promises answers, not corrections, and nothing obliges the vendor to keep the version alive.",
            ),
        ),
    ),
    "single-bastion": (
        "One stolen certificate opens the whole network.",
        (
            (
                "PROP-3",
                "harm_if_true",
                "Whoever takes over one machine reads and alters all internal traffic.",
                "Without encryption between services a compromised printer collects the passwords of databases.",
            ),
            (
                "PROP-1",
                "hidden_assumption",
                "The plan takes for granted that attackers come through the edge.",
                "Phishing, a laptop brought back from a conference and a poisoned update all bypass network plan 4.",
            ),
            (
                "PROP-2",
                "misread_evidence",
                "Policy A-7 covers administrators and leaves service accounts out.",
                "Most intrusions use the accounts of programs, whose passwords lie in files and never expire.",
            ),
            (
                "PROP-1",
                "tail_risk",
                "A flaw in the gateway's own software exposes everything at once.",
                "There is no second barrier, so the day on which an exploit is published is the day of the breach.",
            ),
        ),
    ),
    "queue-memory": (
        "The service confirms orders that a restart destroys.",
        (
            (
                "PROP-3",
                "harm_if_true",
                "Every confirmed order still waiting is lost when the process stops.",
                "Customers were told that their purchase is accepted, and no trace remains from which to repair it.",
            ),
            (
                "PROP-1",
                "misread_evidence",
                "A median of 0.4 ms tells nothing of the moment when memory runs out.",
                "The load test of May had no outage of the workers; with a backlog of an hour the process is killed.",
            ),
            (
                "PROP-2",
                "hidden_assumption",
                "Fewer alarms mean fewer failures seen, not fewer failures.",
                "Four people on a rota still have to rebuild lost orders by hand from bank statements.",
            ),
        ),
    ),
    "backup-keys": (
        "The concept hands the attacker backups and key together.",
        (
            (
                "PROP-3",
                "tail_risk",
                "Ransomware with a domain administrator's account wipes the backup server as well.",
                "Joining the office domain (concept 4.1) puts originals and copies behind the same stolen password.",
            ),
            (
                "PROP-2",
                "misread_evidence",
                "Encryption with the key on the same server protects against nobody who is on it.",
                "Concept 2.3 stores AES key and data side by side; destroying that key makes every copy worthless.",
            ),
            (
                "PROP-1",
                "hidden_assumption",
                "A completed job is not a restored system.",
                "31 of 31 log entries show that files were written, and none that anybody ever read them back.",
            ),
        ),
    ),
}

# Each agrees in its own way: openly, in praise with figures, with minor wishes, in hollow words, by echo.
AGREEING: dict[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "openly": (
        "The proposal is sound and should go ahead.",
        (
            ("tail_risk", "The proposer is right about this.", "Argument {id} is convincing; 3 of 4 cases confirm it."),
            ("misread_evidence", "The evidence is read as it stands.", "It supports the claim in all 12 months named."),
            ("hidden_assumption", "The assumption is justified.", "Every expert whom we asked in 2024 shares it."),
            ("harm_if_true", "It helps everybody concerned.", "In 9 of 10 projects the benefit came within a year."),
        ),
    ),
    "praising": (
        "The case is complete and thorough.",
        (
            ("tail_risk", "The reserve of 20 percent covers it.", "Similar programmes succeeded in 2019 and in 2021."),
            (
                "misread_evidence",
                "The figures speak clearly.",
                "Independent measurements by 3 laboratories match them.",
            ),
            ("hidden_assumption", "The team is experienced.", "Its members completed 14 comparable projects in time."),
            ("harm_if_true", "Customers welcome the change.", "In a survey 82 percent preferred the new arrangement."),
        ),
    ),
    "praising in the words of danger": (
        "The proposal protects everybody.",
        (
            (
                "tail_risk",
                "It lowers the risk by 30 percent.",
                "A reserve prevents any serious loss in 4 of 4 scenarios.",
            ),
            (
                "misread_evidence",
                "The costs fall as reported.",
                "Measured savings of 12 percent cover the higher costs.",
            ),
            (
                "hidden_assumption",
                "It avoids every delay.",
                "Experience from 14 projects reduces the danger of delays.",
            ),
            ("harm_if_true", "Damage is limited.", "Insurance covers the remaining damage up to 5 million a year."),
        ),
    ),
    "with a small wish": (
        "The proposal is generally sound, a detail aside.",
        (
            ("tail_risk", "That said, a footnote is missing.", "While I acknowledge the plan, page 4 has a misprint."),
            ("misread_evidence", "A minor concern is the layout.", "The table on page 7 could perhaps be wider."),
            (
                "hidden_assumption",
                "The wording is largely correct.",
                "One comma in clause 3 might want to consider moving.",
            ),
        ),
    ),
    "in hollow words": (
        "The proposal is bad.",
        (
            ("tail_risk", "It is bad in many ways.", "It could go wrong in more ways than one can say."),
            ("misread_evidence", "It is not shown at all.", "It is not shown by what is said, nor by what is not."),
            ("hidden_assumption", "It rests on things.", "It rests on things that may or may not be so at all."),
            ("harm_if_true", "It is bad even then.", "Even if it were so, it would be bad for all of us."),
        ),
    ),
}
