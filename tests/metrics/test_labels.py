"""Letters: accuracy, weighted and macro F1, MCC against scikit-learn, and what unread answers and gold sets do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from taxpraben.metrics import Pair, find_metric
from taxpraben.metrics.confusion import letter_flags


def pairs(golds: list[str], picks: list[str | None]) -> list[Pair]:
    """Comparisons of letters."""
    return [Pair(reference=gold, candidate=pick, compared="letters") for gold, pick in zip(golds, picks, strict=True)]


def drawn(labels: str, rows: int, seed: int) -> tuple[list[str], list[str]]:
    """Random gold and picked letters, each label gold at least once."""
    generator = np.random.default_rng(seed)
    golds = [*labels, *generator.choice(list(labels), rows - len(labels))]
    picks = [gold if generator.random() < 0.5 else generator.choice(list(labels)) for gold in golds]
    return [str(gold) for gold in golds], [str(pick) for pick in picks]


@pytest.mark.parametrize("labels", ["ABCD", "ABCDEFGHIJ"])
@pytest.mark.parametrize("seed", range(3))
def test_label_metrics_equal_scikit_learn_on_single_letters(labels: str, seed: int) -> None:
    golds, picks = drawn(labels, 60, seed)
    given = pairs(golds, list(picks))
    expected = {
        "accuracy": accuracy_score(golds, picks),
        "weighted_f1": f1_score(golds, picks, average="weighted", labels=list(labels), zero_division=0),
        "macro_f1": f1_score(golds, picks, average="macro", labels=list(labels), zero_division=0),
        "mcc": matthews_corrcoef(golds, picks),
    }
    for name, value in expected.items():
        assert find_metric(name).aggregate(given, labels) == pytest.approx(value, abs=1e-12), name


def test_f1_of_gold_sets_equals_scikit_learn_multilabel() -> None:
    golds, picks = ["A", "AB", "C", "BD", "D", "D"], ["A", "B", "CD", "BD", "A", ""]
    truth, said = letter_flags(golds, "ABCD"), letter_flags(picks, "ABCD")
    given = pairs(golds, [pick or None for pick in picks])
    for name, average in (("weighted_f1", "weighted"), ("macro_f1", "macro")):
        expected = f1_score(truth, said, average=average, zero_division=0)
        assert find_metric(name).aggregate(given, "ABCD") == pytest.approx(expected, abs=1e-12)


def test_unread_answer_is_wrong_and_never_a_class() -> None:
    given = pairs(["A", "B"], ["A", None])
    assert find_metric("accuracy").aggregate(given, "AB") == 0.5
    # A: precision 1, recall 1; B: nothing found. A third class would make it a third.
    assert find_metric("macro_f1").aggregate(given, "AB") == 0.5
    assert find_metric("weighted_f1").aggregate(given, "AB") == 0.5


def test_label_that_no_item_has_as_gold_does_not_cap_a_perfect_model() -> None:
    assert find_metric("macro_f1").aggregate(pairs(["A", "B"], ["A", "B"]), "ABCD") == 1.0
    # Picking such a label still costs: A has recall 1/2, F1 2/3; B has 1.
    given = pairs(["A", "A", "B"], ["A", "C", "B"])
    assert find_metric("macro_f1").aggregate(given, "ABCD") == pytest.approx((2 / 3 + 1) / 2)


def test_accuracy_of_a_gold_set_wants_all_of_it_and_nothing_else() -> None:
    given = pairs(["AC", "AC", "AC", "AC"], ["AC", "A", "ABC", None])
    assert [score.value for score in find_metric("accuracy").score_pairs(given)] == [1.0, 0.0, 0.0, 0.0]


def test_metrics_over_lists_give_no_value_a_pair_but_flag_the_unread() -> None:
    scores = find_metric("macro_f1").score_pairs(pairs(["A", "B"], ["A", None]))
    assert [score.value for score in scores] == [None, None]
    assert [score.flags for score in scores] == [(), ("unread",)]


def test_letter_outside_the_labels_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'E'"):
        letter_flags(["E"], "ABCD")


def test_empty_list_has_no_value() -> None:
    for name in ("accuracy", "macro_f1", "exact_match"):
        assert find_metric(name).aggregate([], "AB") is None
