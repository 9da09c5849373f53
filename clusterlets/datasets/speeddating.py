"""Speed dating, OpenML 40536: R. Fisman, S. Iyengar, E. Kamenica, I. Simonson, 2006. The group is match.

Published as ARFF and as CSV, with or without the bins of each column (``d_*``); d_age is not a bin but the difference
of ages, and a feature. All forms have the same file name; the first line tells them apart.
"""

import re
from pathlib import Path

from clusterlets.datasets.reading import codes, numbers, read_table, texts
from clusterlets.datasets.table import Table

_FEATURES = tuple(
    (
        "is_male age age_o d_age samerace importance_same_race importance_same_religion pref_o_attractive pref_o_sincere "
        "pref_o_intelligence pref_o_funny pref_o_ambitious pref_o_shared_interests attractive_o sinsere_o intelligence_o "
        "funny_o ambitous_o shared_interests_o attractive_important sincere_important intellicence_important funny_important "
        "ambtition_important shared_interests_important attractive sincere intelligence funny ambition attractive_partner "
        "sincere_partner intelligence_partner funny_partner ambition_partner shared_interests_partner sports tvsports "
        "exercise dining museums art hiking gaming clubbing reading tv theater movies concerts music shopping yoga "
        "interests_correlate expected_happy_with_sd_people expected_num_interested_in_me expected_num_matches like "
        "guess_prob_liked met decision decision_o"
    ).split()
)
_MUST_BE_KNOWN = tuple(
    (
        "age age_o importance_same_race pref_o_attractive pref_o_sincere interests_correlate pref_o_funny pref_o_ambitious "
        "pref_o_shared_interests attractive_o sinsere_o intelligence_o funny_o ambitous_o shared_interests_o funny_important "
        "ambtition_important shared_interests_important attractive sincere intelligence funny ambition attractive_partner "
        "sincere_partner intelligence_partner funny_partner ambition_partner shared_interests_partner "
        "expected_num_interested_in_me expected_num_matches like guess_prob_liked met"
    ).split()
)
_BOOLEANS = ("samerace", "met", "decision", "decision_o")
_CLASS = ("0", "1")
# samerace is left out with race: it was computed from the two races.
SENSITIVE = {"gender": ("is_male",), "race": ("samerace",)}
_ATTRIBUTE = re.compile(r"""@attribute\s+(?:'([^']+)'|"([^"]+)"|(\S+))\s""", re.IGNORECASE)


def prepare(paths: dict[str, Path]) -> Table:
    """62 features of the rows without a missing value in the columns above; met is a boolean although some answered 3 to 8."""
    path = paths["speeddating_openml40536_undiscretized_merged.csv"]
    attributes, lines = _arff_head(path)
    columns = ("gender", *_FEATURES[1:], "race", "match")
    if attributes:
        frame = read_table(path, columns, attributes, quote="'", skip=lines, comment="%")
    else:
        frame = read_table(path, columns)
    frame = frame[~frame[list(_MUST_BE_KNOWN)].isin(("?", "")).any(axis=1)].copy()
    frame["is_male"] = codes(frame, "gender", ("female", "male"))
    frame[list(_BOOLEANS)] = numbers(frame, _BOOLEANS) != 0
    frame["race"] = frame["race"].replace("?", "")
    group = codes(frame, "match", _CLASS)
    return Table(numbers(frame, _FEATURES), group, _FEATURES, _CLASS, texts(frame, SENSITIVE))


def _arff_head(path: Path) -> tuple[list[str], int]:
    """Attribute names and the number of lines up to ``@data``, which is included; no names if the file is not ARFF."""
    attributes: list[str] = []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            text = line.strip()
            if text.lower().startswith("@data"):
                return attributes, number
            if text and not text.startswith(("@", "%")):
                break
            if attribute := _ATTRIBUTE.match(text):
                attributes.append(attribute[1] or attribute[2] or attribute[3])
    return [], 0
