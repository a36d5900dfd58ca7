"""Made-up training data: the same arguments always give the same bytes, from no outside file.

`jsonl` writes chat records in English and Chinese, about 1 KB each, that compress like real
instruction data (about 3.5 times by zstd level 3). A sentence is an opening and an ending,
each drawn from 2**16 half sentences, so that two random bytes pick one. Half sentences are
made of common words and, for the long tail of real text, of rare invented ones.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

HALVES = 1 << 16
RARE_WORDS = 1 << 14
RARE_SHARE = 1.4  # rare words against common ones in a column that has both: sets the ratio
BLOCK_BYTES = 1 << 23
BATCH_SENTENCES = 1024
ENGLISH_SHARE = 0.55
QUESTION_SENTENCES = 3
ANSWER_SENTENCES = 18
ANSWER_OPENS = b'{"role":"assistant","content":"'
RECORD = (
    b'{"id":"%s","messages":[{"role":"user","content":"%s"},%s%s"}],'
    b'"source":"made-up/%s","score":%.6f}\n'
)


@dataclass(frozen=True)
class Grammar:
    """The words of a language: for each half of a sentence its columns, in order of speech.

    In a column `*` stands for a rare word, made of two to four of the syllables.
    """

    code: str
    opening: tuple[str, ...]
    ending: tuple[str, ...]
    syllables: str


@dataclass(frozen=True)
class Language:
    """A code and the half sentences to draw from."""

    code: bytes
    openings: tuple[bytes, ...]
    endings: tuple[bytes, ...]

    def sentences(self, rng: random.Random, count: int) -> list[bytes]:
        """`count` random sentences, escaped for a JSON string."""
        halves = (
            map(table.__getitem__, memoryview(rng.randbytes(2 * count)).cast("H"))
            for table in (self.openings, self.endings)
        )
        return list(map(b"".join, zip(*halves, strict=True)))

    def stream(self, rng: random.Random) -> Iterator[bytes]:
        """Random sentences without end."""
        while True:
            yield from self.sentences(rng, BATCH_SENTENCES)


@dataclass(frozen=True)
class Edit:
    """What `edit_jsonl` did: records changed in place, left out and added."""

    edited: int
    deleted: int
    inserted: int


def jsonl(path: Path, size: int, seed: int) -> int:
    """Write chat records until the file has `size` bytes or just more; returns their number."""
    count = written = 0
    with path.open("wb") as file:
        for record in records(seed):
            file.write(record)
            count += 1
            written += len(record)
            if written >= size:
                return count
    raise AssertionError("records() has no end")


def records(seed: int) -> Iterator[bytes]:
    """Chat records without end, one JSON object and a newline each, with random ids."""
    rng = random.Random(seed)
    english, chinese = ((each.code, each.stream(rng)) for each in _languages())
    while True:
        code, sentences = english if rng.random() < ENGLISH_SHARE else chinese
        question = b"".join(islice(sentences, 1 + int(rng.random() * QUESTION_SENTENCES)))
        answer = b"".join(islice(sentences, 2 + int(rng.random() * ANSWER_SENTENCES)))
        identity = rng.randbytes(16).hex().encode()
        yield RECORD % (identity, question, ANSWER_OPENS, answer, code, rng.random())


def edit_jsonl(
    src: Path,
    dst: Path,
    seed: int,
    edited: float = 0.01,
    deleted: int = 500,
    inserted: int = 500,
) -> Edit:
    """Copy `src` with a share of its records changed, some left out and some new ones put in.

    Places are random. An edit puts one sentence before the answer, so the record stays JSON.
    At most half of the records are left out.
    """
    rng = random.Random(seed)
    with src.open("rb") as file:
        total = sum(1 for _ in file)
    gone = set(rng.sample(range(total), min(deleted, total // 2)))
    kept = [number for number in range(total) if number not in gone]
    changed = set(rng.sample(kept, round(edited * len(kept))))
    before = sorted(rng.choices(range(total + 1), k=inserted), reverse=True)
    fresh = records(seed + 1)
    with src.open("rb") as file, dst.open("wb") as out:
        for number, line in enumerate(file):
            while before and before[-1] == number:
                out.write(next(fresh))
                before.pop()
            if number in changed:
                out.write(_with_one_more_sentence(line, rng))
            elif number not in gone:
                out.write(line)
        out.writelines(next(fresh) for _ in before)
    return Edit(edited=len(changed), deleted=len(gone), inserted=inserted)


def incompressible(path: Path, size: int, seed: int) -> None:
    """Write `size` random bytes."""
    rng = random.Random(seed)
    with path.open("wb") as file:
        for start in range(0, size, BLOCK_BYTES):
            file.write(rng.randbytes(min(BLOCK_BYTES, size - start)))


def small_files(directory: Path, count: int, low: int, high: int, seed: int) -> int:
    """Write `count` files of `low` to `high` random bytes, 100 a folder; returns all bytes."""
    rng = random.Random(seed)
    total = 0
    for number in range(count):
        folder = directory / f"part-{number // 100:04d}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        content = rng.randbytes(rng.randint(low, high))
        (folder / f"sample-{number:06d}.bin").write_bytes(content)
        total += len(content)
    return total


def _with_one_more_sentence(line: bytes, rng: random.Random) -> bytes:
    (sentence,) = rng.choice(_languages()).sentences(rng, 1)
    return line.replace(ANSWER_OPENS, ANSWER_OPENS + sentence, 1)


@functools.cache
def _languages() -> tuple[Language, ...]:
    """English and Chinese; their tables take half a second and 20 MB, so only if used."""
    return tuple(_language(grammar) for grammar in (ENGLISH, CHINESE))


def _language(grammar: Grammar) -> Language:
    rng = random.Random(0)
    parts = grammar.syllables.split("|")
    rare = ["".join(rng.choices(parts, k=2 + n % 3)) for n in range(RARE_WORDS)]
    return Language(
        code=grammar.code.encode(),
        openings=_halves(grammar.opening, rare, rng),
        endings=_halves(grammar.ending, rare, rng),
    )


def _halves(columns: Sequence[str], rare: Sequence[str], rng: random.Random) -> tuple[bytes, ...]:
    """HALVES half sentences; the words of a column are separated by `|`."""
    chosen = [_drawn(column.split("|"), rare, rng) for column in columns]
    return tuple("".join(words).encode() for words in zip(*chosen, strict=True))


def _drawn(words: Sequence[str], rare: Sequence[str], rng: random.Random) -> list[str]:
    """HALVES words of one column, where `*` stands for all the rare words together."""
    population = [word for word in words if "*" not in word]
    weights = [1.0] * len(population)
    for word in words:
        if "*" in word:
            population += [word.replace("*", each) for each in rare]
            weights += [RARE_SHARE * len(words) / len(rare)] * len(rare)
    return rng.choices(population, weights, k=HALVES)


ENGLISH = Grammar(
    code="en",
    opening=(
        "The |A |Our |Their |Every |This |Most |No ",
        "small|large|first|second|careful|noisy|simple|public|private|better|recent|usual|quiet"
        "|strong|early|local|formal|honest|narrow|double|*",
        " *| model| dataset| teacher| student| answer| report| engineer| city| river"
        "| recipe| theory| company| library| method| garden| doctor| network| sentence| result"
        "| village| museum| planet| budget| letter",
        " often| rarely| quickly| slowly| never| also| still| finally| usually||",
        " explains| improves| describes| needs| compares| follows| ignores| contains| replaces"
        "| measures| prepares| supports| rejects| remembers| translates| predicts| repeats",
    ),
    ending=(
        " the| a| one| another| each| some| its| that",
        " useful| hidden| central| common| foreign| missing| modern| natural| open||| famous"
        "| exact| gentle| rapid",
        " *| question| example| number| problem| solution| language| market"
        "| history| music| energy| paper| program| story| choice| error| system| reason| habit"
        "| signal| window| contract| harvest",
        " because of| without| after| before| in spite of| together with| instead of| during",
        " time| cost| training| practice| weather| evidence| memory| advice| data| rules| trust"
        "| noise| luck| reading| testing| travel| sleep| trade| design| *",
        "|||||| in 1950| in 2021| in 1987| in 2003| by 40%| by 12%",
        ". |. |. |. |.\\n|? |; |.\\n\\n- |: ",
    ),
    syllables="ba|cor|del|fen|gor|hal|im|jun|kel|lor|mar|nev|os|pra|quin|ros|sil|tam|ul|ven|wor"
    "|xan|yel|zor|bri|cha|dro|fla|gri|ster",
)

CHINESE = Grammar(
    code="zh",
    opening=(
        "这个|那个|一个|我们的|他们的|每个|某些|所有",
        "简单|重要|常见|公开|全新|传统|可靠|复杂|优秀|普通|*",
        "模型|数据|老师|学生|方法|城市|公司|故事|理论|系统|作者|医生|项目|答案|程序|语言|*",
        "经常|很少|已经|仍然|可以|应该|往往|正在",
        "解释|改进|描述|需要|比较|遵循|包含|替代|测量|支持|记录|翻译|忽略|提高|预测|保护",
    ),
    ending=(
        "有用的|隐藏的|核心的|现代的|自然的|不同的|新的||*",
        "问题|例子|数字|方案|市场|历史|音乐|能源|论文|选择|错误|原因|习惯|规则|环境|文化|*",
        "||||约三成|以下文为准|和经验|和成本|和时间|和证据",
        "。|，|；|。\\n|？|。|。|。\\n\\n",
    ),
    syllables="安|北|春|东|风|光|海|河|红|花|江|金|京|空|兰|林|龙|梅|明|木|南|平|青|秋|泉"
    "|山|石|水|松|天|田|土|西|溪|夏|雪|阳|月|云|竹|舟|星|宁|和|康|瑞|泰|德|文|武"
    "|波|城|池|川|岛|峰|港|谷|湖|虎|鹿|鹤|马|牛|羊|鱼|桥|塔|门|窗|茶|酒|米|麦|豆",
)
