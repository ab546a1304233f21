"""Clusters of texts and of vectors: learned, described, kept in a file and measured again."""

import json

import numpy as np
import pytest

import unskew
from tests.statistics import has_rate
from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.core.variables.coded import as_coded
from unskew.discovery.learned.clusters import learn_clusters, load_clusters, save_clusters
from unskew.discovery.learned.describe import describe_clusters
from unskew.discovery.learned.means import k_means, nearest
from unskew.discovery.learned.tokens import PLACES, place_weights, text_vectors, tokens_of
from unskew.discovery.score.dependence import dependence

TOPICS = {
    "shop": "buy price shop apples pears cost euros pay coins basket",
    "train": "train speed hours station miles leaves arrives track fast slow",
    "family": "father mother son age years older younger sister brother twice",
}
COMMON = "the a is how many of and in what if he she it then"


def texts_of_topics(rng, rows, topical=0.4):
    topics = rng.choice(list(TOPICS), rows).tolist()
    texts = []
    for topic in topics:
        words = [
            str(rng.choice((TOPICS[topic] if rng.random() < topical else COMMON).split()))
            for _ in range(rng.integers(8, 20))
        ]
        texts.append(" ".join(words))
    return topics, texts


def coded(values):
    return as_coded(np.array(values, dtype=object))


@pytest.mark.parametrize("seed", range(3))
def test_planted_topics_are_found(seed):
    """No token tells the topics apart for sure; the clusters take most of their entropy."""
    topics, texts = texts_of_topics(np.random.default_rng(seed), 1_500)
    clusters = learn_clusters("prompt", texts, clusters=3, seed=seed)
    assert dependence(clusters.of(texts), coded(topics)).share(1) > 0.85


def test_clusters_of_words_without_topics_say_nothing_of_others():
    """Clusters of noise are clusters; they have nothing to do with a column of noise."""
    rng = np.random.default_rng(4)
    alarms = 0
    for seed in range(20):
        _, texts = texts_of_topics(rng, 200, topical=0)
        clusters = learn_clusters("prompt", texts, clusters=4, seed=seed)
        alarms += dependence(clusters.of(texts), as_coded(rng.integers(0, 2, 200))).p <= 0.05
    assert has_rate(alarms, 20, 0.05) > 1e-3


def test_a_cluster_is_described_by_what_sets_it_apart():
    rng = np.random.default_rng(5)
    topics, texts = texts_of_topics(rng, 900)
    clusters = learn_clusters("prompt", texts, clusters=3)
    noise = rng.integers(0, 4, 900)
    features = {"topic": coded(topics), "noise": as_coded(noise)}
    told = describe_clusters(clusters, texts, features)
    assert sum(each.rows for each in told) == 900
    assert {each.traits[0].value for each in told} == set(TOPICS)
    for each in told:
        (trait,) = each.traits  # noise sets nothing apart
        assert trait.name == "topic"
        assert trait.share > 0.9
        assert trait.elsewhere < 0.1
        assert set(each.tokens) <= set(TOPICS[trait.value].split())
        assert len(each.tokens) >= 5
        assert [topics[row] for row in each.examples] == [trait.value] * 3


def test_vectors_are_clustered_as_they_are():
    rng = np.random.default_rng(6)
    middle = rng.integers(0, 4, 400)
    vectors = np.array([[0, 0], [9, 0], [0, 9], [9, 9]])[middle] + rng.normal(size=(400, 2))
    clusters = learn_clusters("embedding", list(vectors), clusters=4)
    assert dependence(clusters.of(list(vectors)), as_coded(middle)).share(1) > 0.99
    assert describe_clusters(clusters, list(vectors), {})[0].tokens == ()


@pytest.mark.parametrize("kind", ["texts", "vectors"])
def test_a_file_gives_the_same_clusters(kind, tmp_path):
    rng = np.random.default_rng(7)
    values = texts_of_topics(rng, 300)[1] if kind == "texts" else rng.normal(size=(300, 5)).tolist()
    clusters = learn_clusters("meta.x", [*values, None])
    save_clusters(clusters, tmp_path / "clusters.json")
    again = load_clusters(tmp_path / "clusters.json")
    assert (again.path, again.kind) == ("meta.x", kind)
    others = [*values, None]
    assert again.of(others).tolist() == clusters.of(others).tolist()
    assert again.of(others).tolist()[-1] is None
    assert (again.centroids == clusters.centroids).all()


def test_the_variable_measures_rows_of_any_kind(tmp_path):
    _, texts = texts_of_topics(np.random.default_rng(8), 300)
    clusters = learn_clusters("prompt", texts, clusters=3)
    variable = clusters.variable("topics")
    expected = clusters.of(texts).tolist()
    rows = [{"prompt": text} for text in texts]
    for batch in (Batch.of(rows), Batch.from_arrow(Batch.of(rows).to_arrow())):
        assert variable.measure(batch).tolist() == expected
    report = unskew.audit(rows, by=variable)
    assert sum(report.variables["topics"].counts.values()) == 300


def test_vectors_in_a_column_are_measured():
    rng = np.random.default_rng(9)
    vectors = rng.normal(size=(200, 3))
    clusters = learn_clusters("v", list(vectors), clusters=3)
    expected = clusters.of(list(vectors)).tolist()
    batch = Batch.of([{"v": row} for row in vectors.tolist()])
    assert clusters.variable().measure(batch).tolist() == expected


def test_a_variable_of_an_own_module_is_measured_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, texts = texts_of_topics(np.random.default_rng(10), 200)
    clusters = learn_clusters("prompt", texts, clusters=2)
    save_clusters(clusters, "topics.json")
    (tmp_path / "my_topics.py").write_text(
        "from unskew.discovery.learned.clusters import load_clusters\n"
        "topics = load_clusters('topics.json').variable()\n"
    )
    rows = [{"prompt": text} for text in texts]
    report = unskew.audit(rows, by="my_topics:topics")
    counts = report.variables["my_topics:topics"].counts
    assert dict(counts) == {
        value: clusters.of(texts).tolist().count(value) for value in sorted(counts)
    }


DAMAGED = {
    "no JSON": "{",
    "another file": "[1, 2]",
    "no format": "{}",
    "another format": '{"format": "unskew clusters 99"}',
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_file_that_has_no_clusters_is_refused(text, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(UnskewError, match=r"other\.json"):
        load_clusters(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "images"),
        ("path", None),
        ("centroids", []),
        ("centroids", [[1.0], [1.0, 2.0]]),
        ("centroids", [["x"] * PLACES]),
        ("centroids", [[1e999] * PLACES]),
        ("centroids", {"a": 1}),
        ("centroids", [[1.0, 2.0]]),
        ("weights", [1.0]),
        ("weights", None),
    ],
)
def test_damaged_clusters_are_refused(key, value, tmp_path):
    path = tmp_path / "clusters.json"
    save_clusters(learn_clusters("x", ["a b", "c d"] * 20, clusters=2), path)
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {key: value}))
    with pytest.raises(UnskewError, match="are damaged; save them again"):
        load_clusters(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UnskewError, match="cannot be read as clusters"):
        load_clusters(tmp_path / "none.json")


def test_values_that_cannot_be_clustered_are_refused():
    with pytest.raises(UnskewError, match="a value to cluster is 3; give texts alone"):
        learn_clusters("x", ["a", 3, "b"], clusters=2)
    with pytest.raises(UnskewError, match="equally many numbers"):
        learn_clusters("x", [[1, 2], [1, 2, 3]], clusters=2)
    with pytest.raises(UnskewError, match="not finite"):
        learn_clusters("x", [[1, 2], [1, float("nan")]], clusters=2)
    with pytest.raises(UnskewError, match="clusters is 5, and 2 rows have a value of x"):
        learn_clusters("x", ["a", "b", None], clusters=5)
    with pytest.raises(UnskewError, match="clusters is 1; allowed is a whole number of at least 2"):
        learn_clusters("x", ["a", "b"], clusters=1)
    clusters = learn_clusters("x", [[1.0, 2.0], [3.0, 4.0]], clusters=2)
    with pytest.raises(UnskewError, match="have 3 numbers, those of the clusters have 2"):
        clusters.of([[1.0, 2.0, 3.0]])


def test_values_that_are_alike_make_fewer_clusters():
    assert len(learn_clusters("x", ["same"] * 50).centroids) == 1
    assert len(learn_clusters("x", ["one", "two"] * 50, clusters=5).centroids) == 2
    assert learn_clusters("x", ["one", "", "!?"] * 20, clusters=2).of([""]).tolist() in ([0], [1])


def test_tokens_by_hand():
    tokens = tokens_of(["Is 12 + x_1?", "", "is x"])
    assert tokens.distinct == ["is", "12", "+", "x_1", "?", "x"]
    assert tokens.codes.tolist() == [0, 1, 2, 3, 4, 0, 5]
    assert tokens.begins.tolist() == [0, 5, 5, 7]
    assert tokens.owner.tolist() == [0, 0, 0, 0, 0, 2, 2]


def test_vectors_of_texts_have_length_one_and_few_places():
    vectors = text_vectors(["one two three", "one two three", "", "four"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0, 1])
    assert (vectors[0] == vectors[1]).all()
    assert (vectors != 0).sum(axis=1).tolist() == [5, 5, 0, 1]  # three tokens, two pairs
    assert vectors[0] @ vectors[3] == 0


def test_pairs_of_tokens_do_not_reach_over_the_end_of_a_text():
    apart, together = text_vectors(["one", "two"]), text_vectors(["one two"])
    assert (apart != 0).sum() == 2
    assert (together != 0).sum() == 3


def test_a_token_that_every_text_has_weighs_least():
    weights = place_weights(["a b", "a c", "a d"])
    places = {token: np.flatnonzero(text_vectors([token])[0])[0] for token in "abcd"}
    assert weights[places["a"]] == pytest.approx(0.1)
    assert weights[places["b"]] == pytest.approx(np.log(2) + 0.1)


def test_the_nearest_centroid_by_hand():
    vectors = np.array([[0, 0], [3, 4], [1, 1]], dtype=np.float32)
    codes, distances = nearest(vectors, np.array([[0, 0], [3, 0]], dtype=np.float32))
    assert codes.tolist() == [0, 1, 0]
    assert distances.tolist() == [0, 16, 2]


def test_centroids_by_hand():
    vectors = np.array([[0.0], [1.0], [2.0], [10.0], [12.0]], dtype=np.float32)
    assert k_means(vectors, 2, np.random.default_rng(0)).tolist() == [[1.0], [11.0]]
