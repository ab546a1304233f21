"""Chats: messages with roles, a language, and metadata; a vocabulary without favourites."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.discover.kinds import Row


def _words(text: str) -> list[str]:
    return text.split()


WORDS = {
    "en": _words(
        "river stone garden window market bridge paper signal winter engine silver forest doctor "
        "letter planet harbour copper music valley ticket shadow kitchen farmer island pencil "
        "orange castle desert mirror button candle circle"
    ),
    "de": _words(
        "Fluss Stein Garten Fenster Markt Brücke Papier Signal Winter Motor Silber Wald Arzt "
        "Brief Planet Hafen Kupfer Musik Tal Karte Schatten Küche Bauer Insel Stift Orange Burg "
        "Wüste Spiegel Knopf Kerze Kreis"
    ),
    "fr": _words(
        "fleuve pierre jardin fenêtre marché pont papier signal hiver moteur argent forêt docteur "
        "lettre planète port cuivre musique vallée billet ombre cuisine fermier île crayon "
        "orange château désert miroir bouton bougie cercle"
    ),
    "es": _words(
        "río piedra jardín ventana mercado puente papel señal invierno motor plata bosque doctor "
        "carta planeta puerto cobre música valle billete sombra cocina granjero isla lápiz "
        "naranja castillo desierto espejo botón vela círculo"
    ),
}
TOPICS = ("travel", "cooking", "physics", "history", "music", "law")
MODELS = ("a-small", "a-large", "b-small", "b-large")
SYSTEMS = ("Answer briefly.", "Explain each step.", "Be friendly.", "Use plain words.")
ENDS = (".", "?", "!", " …")


def sentence(rng: np.random.Generator, language: str, words: int) -> str:
    """Return a sentence of words that come equally often."""
    vocabulary = WORDS[language]
    chosen = [vocabulary[i] for i in rng.integers(len(vocabulary), size=words)]
    return " ".join(chosen).capitalize() + ENDS[rng.integers(len(ENDS))]


def text(rng: np.random.Generator, language: str) -> str:
    """Return one to four sentences."""
    return " ".join(
        sentence(rng, language, int(rng.integers(3, 11))) for _ in range(rng.integers(1, 5))
    )


def _meta(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "topic": TOPICS[rng.integers(len(TOPICS))],
        "model": MODELS[rng.integers(len(MODELS))],
        "temperature": round(float(rng.integers(0, 11)) / 10, 1),
        "tags": sorted(t for t in ("short", "code", "math", "safe") if rng.random() < 0.5),
        "seen": bool(rng.random() < 0.5),
    }


def chats(rng: np.random.Generator, n: int) -> list[Row]:
    """Return chats of one to four turns, half with a system prompt, in four languages."""
    rows = []
    for language in (tuple(WORDS)[i] for i in rng.integers(len(WORDS), size=n)):
        messages = []
        if rng.random() < 0.5:
            messages.append({"role": "system", "content": SYSTEMS[rng.integers(len(SYSTEMS))]})
        for _ in range(rng.integers(1, 5)):
            messages.append({"role": "user", "content": text(rng, language)})
            messages.append({"role": "assistant", "content": text(rng, language)})
        if rng.random() < 0.5:
            messages.pop()
        rows.append({"messages": messages, "language": language, "meta": _meta(rng)})
    return rows


def preferences(rng: np.random.Generator, n: int) -> list[Row]:
    """Return prompts with two answers, of which the better one is A or B, as often each."""
    return [
        {
            "prompt": text(rng, language),
            "a": text(rng, language),
            "b": text(rng, language),
            "language": language,
            "meta": _meta(rng),
            "answer": "AB"[rng.integers(2)],
        }
        for language in (tuple(WORDS)[i] for i in rng.integers(len(WORDS), size=n))
    ]


def of_role(row: Row, role: str) -> list[str]:
    """Return the contents of the messages of a role."""
    return [m["content"] for m in row["messages"] if m["role"] == role]


def with_user(row: Row, change: Any, which: int = 0) -> Row:
    """Return a chat in which the content of one message of the user is changed."""
    messages = [dict(message) for message in row["messages"]]
    users = [message for message in messages if message["role"] == "user"]
    users[which]["content"] = change(users[which]["content"])
    return {**row, "messages": messages}


VARIANTS = {"chats": chats, "preferences": preferences}
