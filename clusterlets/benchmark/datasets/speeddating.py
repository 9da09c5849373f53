"""Speed dating, OpenML 40536: R. Fisman, S. Iyengar, E. Kamenica, I. Simonson, 2006. The group is match.

The file is ARFF or CSV, under the same name. It may have a binned copy (``d_*``) of each column. d_age is not such a copy: it
is the difference of the ages.
"""

import re
from pathlib import Path

from clusterlets.tables.reading import codes, numbers, read_table, texts
from clusterlets.tables.table import Table

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
_REQUIRED_COLUMNS = tuple(
    (
        "age age_o importance_same_race pref_o_attractive pref_o_sincere interests_correlate pref_o_funny pref_o_ambitious "
        "pref_o_shared_interests attractive_o sinsere_o intelligence_o funny_o ambitous_o shared_interests_o funny_important "
        "ambtition_important shared_interests_important attractive sincere intelligence funny ambition attractive_partner "
        "sincere_partner intelligence_partner funny_partner ambition_partner shared_interests_partner "
        "expected_num_interested_in_me expected_num_matches like guess_prob_liked met"
    ).split()
)
_BOOLEANS = ("samerace", "met", "decision", "decision_o")
_CLASSES = ("0", "1")
# Each attribute with the features that reveal it. samerace says whether the two people are of the same race.
SENSITIVE = {"gender": ("is_male",), "race": ("samerace",)}
_ATTRIBUTE = re.compile(r"""@attribute\s+(?:'([^']+)'|"([^"]+)"|(\S+))\s""", re.IGNORECASE)


def prepare(paths: dict[str, Path]) -> Table:
    """62 features. Rows that lack a value in ``_REQUIRED_COLUMNS`` are dropped.

    ``met`` should be 0 or 1, but some people answered 3 to 8. Every answer except 0 counts as true.
    """
    path = paths["speeddating_openml40536_undiscretized_merged.csv"]
    attributes, n_head_lines = _arff_head(path)
    columns = ("gender", *_FEATURES[1:], "race", "match")
    if attributes:
        frame = read_table(path, columns, attributes, quote="'", skip=n_head_lines, comment="%")
    else:
        frame = read_table(path, columns)
    frame = frame[~frame[list(_REQUIRED_COLUMNS)].isin(("?", "")).any(axis=1)].copy()
    frame["is_male"] = codes(frame, "gender", ("female", "male"))
    frame[list(_BOOLEANS)] = numbers(frame, _BOOLEANS) != 0
    frame["race"] = frame["race"].replace("?", "")
    groups = codes(frame, "match", _CLASSES)
    return Table(numbers(frame, _FEATURES), groups, _FEATURES, tuple(zip(_CLASSES)), texts(frame, SENSITIVE))


def _arff_head(path: Path) -> tuple[list[str], int]:
    """The names of the attributes, and the number of lines up to ``@data``. ``[]`` and 0 if the file is not ARFF."""
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
