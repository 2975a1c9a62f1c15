"""Training mixtures: known target and candidates, with the empty answer taught without a tell.

AgroGround, sections 4.2 and 4.3: a share of the positives is asked with a list of candidates and
the rest for the one they show, and healthy photos, a share of all, are asked for what could have
been there (6 % and 12 % of all in the paper); the answer is the empty list. Beyond the paper, as
its appendix F asks for: wrong targets, diseased photos asked for what is not on them.

Every prompt is made of a positive: of its label, kind, level, protocol and pool of names. One with
an empty answer takes those of a positive that was drawn for it, draws a list of its own, and then
a photo is found on which none of its names can be (`negatives`). So whatever the shares, the
crops with healthy photos, and the labels' frequencies, words tell nothing of the answer. (The
published negatives had wordings of their own: agroground.md, section 8.) What remains to
tell: a healthy photo is asked for no weed and no object, since it may show one.

How many empty answers a prompt leads to is geometric, as if a coin were thrown for every prompt to
come: were each to lead to one at most, the prompts that did would tell of those that did not.

A positive's draws are keyed by its own id. Empty answers are ranked by key and the first of them
are taken: the mixture with more of them holds all lines of the one with fewer. Another source
changes none of it but the pools it adds names to, where photos have run out, and at the end of
the ranks, which the shares cut.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heapreplace
from itertools import chain, islice

from fieldtruth import draws
from fieldtruth.faults import Refused, Usage
from fieldtruth.protocols import candidates as with_list
from fieldtruth.protocols import known_target as with_name
from fieldtruth.records import Drop, Example, Item, Role, Space, Split
from fieldtruth.stages.compose.gathered import Gathered, Ill, Passing, Well, gather, group_key
from fieldtruth.stages.compose.items import DENIED, REASONS, drop
from fieldtruth.stages.compose.negatives import HealthyPhotos, OtherPhotos
from fieldtruth.stages.compose.pools import LISTED, Pools
from fieldtruth.stages.compose.sources import Labelled

_TRIED = 4  # prompts for each wrong target wanted, until it is given up

TRAINING_REASONS = (*REASONS, "same_photo", "not_drawn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The settings of a mixture. `healthy` and `wrong_target` are shares of all its examples.

    `candidates` is the share of prompts that give a list instead of the name. A name is certainly
    not on a photo where the photo's source names all that is on it (`exhaustive`) and no row of
    the same content or group names it, or anything in conflict with it. `assume_absent` takes the
    second for enough, in any source: some of those photos will show what they are asked for.
    """

    split: Split = "train"
    candidates: float = 0.5  # AgroGround, section 4.2: a random half
    healthy: float = 0.12  # 0.06 and 0.12 in the paper, which reports the second
    wrong_target: float = 0.0
    space: Space = "norm1000"
    assume_absent: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.split == "test":
            raise Refused(
                "--split: expected train or val for training, got test; its photos are for "
                "benchmarks: leave out --training"
            )
        for name in ("candidates", "healthy", "wrong_target"):
            if not 0 <= getattr(self, name) <= 1:  # false for NaN
                flag = name.replace("_", "-")
                raise Usage(f"--{flag}: expected a share from 0 to 1, got {getattr(self, name)}")
        if self.healthy + self.wrong_target >= 1:
            raise Usage(
                "--healthy and --wrong-target: expected shares that leave some for positives, got "
                f"{self.healthy} and {self.wrong_target}"
            )


@dataclass(frozen=True, slots=True)
class _Ask:
    """One example before it is written out: whose prompt, on which photo, with which list."""

    role: Role
    of: Ill
    on: Ill | Well
    listed: tuple[str, ...] | None
    name: str  # what the prompt's draws are keyed by

    @property
    def names(self) -> tuple[str, ...]:
        """What is asked for."""
        return self.listed or (self.of.record.label,)

    @property
    def protocol(self) -> str:
        return "candidates" if self.listed else "known_target"

    @property
    def id(self) -> str:
        if self.role == "positive":
            return self.on.name
        if self.role == "healthy":
            return f"{self.on.name}#{self.protocol}"
        return f"{self.on.name}#not:{self.name}"


class Mixed:
    """A mixture, planned: what was dropped, what to note, and the examples as they are asked for.

    `notes` are counts of what a reader may not expect: `without_list` prompts that were to have a
    list and whose pools did not give four names; `healthy_short` and `wrong_target_short` examples
    that the shares ask for and no photo was left for; `healthy_of_another_crop` and
    `wrong_target_of_another_crop` photos that are not of the crop of what they are asked for.
    """

    def __init__(self, found: Gathered, mix: Mix) -> None:
        self._mix, self._found = mix, found
        # Pools are of annotated targets only: what cannot be boxed is never a rival.
        self._pools = Pools(each.record for each in found.ill)
        self.notes: Counter[str] = Counter()
        positives = [self._ask("positive", ill, ill.name) for ill in found.ill]
        wrong, owed = self._wrong_targets(positives)
        healthy = self._healthy(positives, owed)
        asks = [*positives, *wrong, *healthy]
        self._asks = sorted(asks, key=lambda ask: (self._key("order", ask.id), ask.id))
        asked = {ask.on.record.id for ask in healthy}
        unused = [each.record for each in found.well if each.record.id not in asked]
        self.drops: list[Drop] = [*found.drops, *(drop(each, "not_drawn") for each in unused)]
        self.drops.sort(key=lambda each: each.id)

    def __len__(self) -> int:
        return len(self._asks)

    def __iter__(self) -> Iterator[Example]:
        """The examples, in an order drawn by their ids: training needs no shuffle."""
        return map(self._written, self._asks)

    def _key(self, what: str, name: str) -> int:
        return draws.key(self._mix.seed, f"compose {what}", name)

    def _spawned(self, what: str, some: Sequence[_Ask]) -> Iterator[tuple[Ill, str]]:
        """Prompts to be answered with nothing, without end: whose they are, each with a name.

        The n-th of one prompt comes when the share reaches the n-th root of the prompt's draw, so
        that with a share of q it leads to n or more with the chance q ** n.
        """
        rank = [
            ((self._key(what, ask.id) + 0.5) / 2**64, ask.id, 1, number)
            for number, ask in enumerate(some)
        ]
        heapify(rank)
        while rank:
            share, name, count, number = rank[0]
            spot = share**count
            heapreplace(rank, (spot ** (1 / (count + 1)), name, count + 1, number))
            yield some[number].of, f"{name}#{count}" if count > 1 else name

    def _ask(self, role: Role, of: Ill, name: str) -> _Ask:
        """The prompt, on the photo it comes from until another is found."""
        return _Ask(role, of, of, self._list(role, of, name), name)

    def _list(self, role: Role, of: Ill, name: str) -> tuple[str, ...] | None:
        """Four names in the order drawn for them, or None: the positive's own protocol."""
        seed = self._mix.seed
        if draws.rng(seed, "compose protocol", of.name).random() >= self._mix.candidates:
            return None
        rng = draws.rng(seed, f"compose {role} list", name)
        true = {of.record.label, *self._found.shown.on(of.photo)}
        rivals = self._pools.walk(sorted(true), (of.crop, of.record.kind), rng)
        names = [of.record.label, *rivals]
        if len(names) < LISTED:
            self.notes["without_list"] += 1
            return None
        return tuple(names[i] for i in rng.permutation(LISTED))

    def _count(self, share: float) -> int:
        """How many examples are that share of all, were every one of them found."""
        mix = self._mix
        return round(len(self._found.ill) * share / (1 - mix.healthy - mix.wrong_target))

    def _wrong_targets(self, positives: Sequence[_Ask]) -> tuple[list[_Ask], list[_Ask]]:
        """The wrong targets, and the prompts for which there was no photo: a healthy one is owed.

        Of kinds that no healthy photo is asked for there are as many more, so that all kinds are
        answered with nothing alike. Where more is owed than healthy photos are wanted, no more are
        made: what cannot be asked in vain would be told by its words.
        """
        photos = OtherPhotos(self._found, self._mix.seed, exhaustive=not self._mix.assume_absent)
        wanted, healthy = self._count(self._mix.wrong_target), self._count(self._mix.healthy)
        rest = sum(ask.of.record.kind not in DENIED for ask in positives) / max(1, len(positives))
        left = {False: min(wanted, round(rest * (healthy + wanted)))}
        left[True] = wanted - left[False]
        made, owed = list[_Ask](), list[_Ask]()
        for of, name in islice(self._spawned("wrong target", positives), _TRIED * wanted):
            denied = of.record.kind in DENIED
            if left[denied] == 0:
                continue
            ask = self._ask("wrong_target", of, name)
            ill = photos.take(of, name, ask.names)
            if ill is not None:
                left[denied] -= 1
                made.append(replace(ask, on=ill))
                self.notes["wrong_target_of_another_crop"] += ill.crop != of.crop
            elif denied and len(owed) == healthy:
                break
            elif denied:
                owed.append(replace(ask, role="healthy"))
        self.notes["wrong_target_short"] += wanted - len(made)
        return made, owed

    def _healthy(self, positives: Sequence[_Ask], owed: Sequence[_Ask]) -> list[_Ask]:
        photos = HealthyPhotos(self._found, self._mix.seed)
        wanted, made = self._count(self._mix.healthy), list[_Ask]()
        fit = [ask for ask in positives if ask.of.record.kind in DENIED]
        spawned = self._spawned("healthy", fit)
        more = (self._ask("healthy", of, name) for of, name in spawned)
        for number, ask in enumerate(islice(chain(owed, more), wanted)):
            well = photos.take(
                ask.of, ask.names, listed=ask.listed is not None, last=number < len(owed)
            )
            if well is None:  # whoever comes now would be of one protocol only
                break
            made.append(replace(ask, on=well))
            self.notes["healthy_of_another_crop"] += well.crop != ask.of.crop
        self.notes["healthy_short"] += wanted - len(made)
        return made

    def _written(self, ask: _Ask) -> Example:
        positive = ask.role == "positive"
        of, on, photo = ask.of, ask.on, ask.on.photo
        protocol = with_list.PROTOCOL if ask.listed else with_name.PROTOCOL
        item = Item(
            id=ask.id, image=photo.image, image_sha256=photo.sha256, width=photo.width,
            height=photo.height, source=on.source.name, licence=on.sample.licence,
            crop=on.record.crop, kind=of.record.kind if positive else None,
            label=of.record.label if positive else None,
            level=of.mark.level if positive else "healthy",
            boxes=tuple(sorted(of.mark.boxes)) if positive else (),  # left to right: learnable
            query=of.record.label, absent_query=None,
            candidates=ask.listed, group=group_key(photo, on.source),
            ask_level=of.mark.level, ask_kind=of.record.kind,
        )  # fmt: skip
        return Example(
            id=item.id, parent=on.record.id, image=item.image, image_sha256=item.image_sha256,
            width=item.width, height=item.height, source=item.source, licence=item.licence,
            group=item.group, split=self._mix.split, role=ask.role, protocol=ask.protocol,
            space=self._mix.space, prompt=protocol.ask(item, self._mix.space),
            answer=protocol.answer(item, self._mix.space), level=of.mark.level, crop=item.crop,
            kind=of.record.kind, label=on.record.label if isinstance(on, Ill) else None,
            query=None if ask.listed else item.query, candidates=ask.listed, boxes=item.boxes,
        )  # fmt: skip


def mix(sources: Sequence[Labelled], settings: Mix, passing: Passing) -> Mixed:
    """The mixture of these sources, whatever their order."""
    ordered = sorted(sources, key=lambda source: source.name)
    return Mixed(gather(ordered, settings.split, settings.seed, passing), settings)
