"""Models of photos and words through transformers, on a tiny random Qwen3-VL."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image
from tests.models import tiny

from fieldtruth import geometry
from fieldtruth.faults import BadRecord, Usage
from fieldtruth.models import transformers
from fieldtruth.models.contract import Request, Words
from fieldtruth.models.transformers import card, loading, on_cpu, templates
from fieldtruth.models.transformers.answering import Drawn, Speaker, room_for
from fieldtruth.models.transformers.encoding import Encoder, Prepared, batch
from fieldtruth.models.transformers.processor import open_processor
from fieldtruth.models.transformers.settings import Settings, space_of
from fieldtruth.pretrained import hushed, opened, pick_device, weights_of
from fieldtruth.replies import read_boxes, write_boxes

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow
SIZES = ((64, 96), (96, 64), (64, 96), (64, 64), (96, 64))  # rows, columns


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.qwen3_vl(tmp_path_factory.mktemp("weights") / "base")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return tiny.noise(tmp_path_factory.mktemp("photos"), SIZES)


def open_model(path: Path, **options: str) -> Any:
    return transformers.OPEN({"path": str(path), "max_new_tokens": "12", **options})


def asked(
    photos: list[Path], prompts: tuple[str, ...] = ("Where?", "Where is it, if it is?")
) -> list[Request]:
    return [
        Request(id=f"{photo.stem}-{prompt}", prompt=prompt, images=(photo,))
        for photo in photos
        for prompt in prompts
    ]


def changed(path: Path, **fields: Any) -> None:
    """Change some fields of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"temperature": "0.8", "seed": "3"}])
def test_a_batch_says_what_one_at_a_time_says(
    base: Path, photos: list[Path], how: Mapping[str, str]
) -> None:
    requests = asked(photos)
    together = list(open_model(base, batch="4", **how).reply(requests))
    alone = list(open_model(base, batch="1", **how).reply(requests))
    assert together == alone
    assert len({words.text for words in together}) > 5  # it reads photo and prompt
    assert all(words.error is None for words in together)


@pytest.mark.parametrize(
    ("kind", "options", "space", "caps"),
    [
        ("qwen2_5_vl", {}, "pixel_resized", "3136..12845056px"),
        ("qwen2_5_vl", {"space": "norm1000", "max_pixels": "6000"}, "norm1000", "3136..6000px"),
        ("llava", {"space": "norm1"}, "norm1", "uncapped"),
    ],
)
def test_models_of_other_makers_answer_alike(
    photos: list[Path], tmp_path: Path, kind: str, options: dict[str, str], space: str, caps: str
) -> None:
    path = getattr(tiny, kind)(tmp_path / kind)
    model = open_model(path, batch="4", **options)
    assert model.space == space
    assert f"-{space}-{caps}-" in model.version
    together = list(model.reply(asked(photos)))
    assert together == list(open_model(path, batch="1", **options).reply(asked(photos)))
    assert len({words.text for words in together}) > 5


def test_words_are_those_of_the_model_written_out_by_hand(base: Path, photos: list[Path]) -> None:
    """The library's own parts and a loop over the likeliest token, without a cache."""
    from transformers import AutoModelForImageTextToText, AutoTokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    words = AutoTokenizer.from_pretrained(base)
    model = AutoModelForImageTextToText.from_pretrained(base).eval()
    eyes = Qwen2VLImageProcessorPil.from_pretrained(base)
    seen = eyes(images=[Image.open(photos[0])], return_tensors="pt")
    assert seen["image_grid_thw"].tolist() == [[1, 4, 6]]
    text = (
        "<|im_start|>user\n<|vision_start|>{}<|vision_end|>Where?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    ids = words(text.format("<|image_pad|>" * 6), return_tensors="pt")["input_ids"]
    start = ids.shape[1]
    with torch.inference_mode():
        for _ in range(12):
            kinds = (ids == 5).int()
            logits = model(input_ids=ids, mm_token_type_ids=kinds, **seen).logits
            ids = torch.cat([ids, logits[:, -1:].argmax(-1)], dim=1)
    (said,) = open_model(base, patches="off").reply(asked(photos[:1], ("Where?",)))
    assert said == Words(text=words.decode(ids[0, start:]), finish="length")


def test_what_is_drawn_depends_on_seed_and_request_only(base: Path, photos: list[Path]) -> None:
    requests = asked(photos)
    first = list(open_model(base, temperature="1", seed="1").reply(requests))
    assert first == list(open_model(base, temperature="1", seed="1").reply(requests))
    assert first[3:4] == list(open_model(base, temperature="1", seed="1").reply(requests[3:4]))
    other = list(open_model(base, temperature="1", seed="2").reply(requests))
    assert sum(a == b for a, b in zip(first, other, strict=True)) == 0


def test_noise_draws_tokens_as_often_as_they_are_likely() -> None:
    from fieldtruth.models.transformers.answering import _Noise

    chances = torch.tensor([0.6, 0.3, 0.1])
    names = [str(number) for number in range(3000)]
    noise = _Noise(Drawn(temperature=0.5), names)
    chosen = noise(None, (chances.log() * 0.5).expand(3000, 3)).argmax(-1)
    shares = torch.bincount(chosen, minlength=3) / 3000
    assert torch.allclose(shares, chances, atol=0.03)


def test_a_reply_ends_at_its_end_or_was_cut_off(
    base: Path, photos: list[Path], tmp_path: Path
) -> None:
    requests = asked(photos[:1])
    (cut, _) = open_model(base).reply(requests)
    assert cut.finish == "length"
    assert read_boxes(cut.text, "norm1000", cut.finish).truncated
    first = open_processor(str(base)).tokenizer(cut.text)["input_ids"][0]
    shutil.copytree(base, tmp_path / "ends")
    changed(tmp_path / "ends" / "generation_config.json", eos_token_id=[2, first])
    (ended, _) = open_model(tmp_path / "ends").reply(requests)
    assert ended == Words(text="", finish="stop")


def test_thirty_boxes_fit_into_a_reply(base: Path) -> None:
    words = open_processor(str(base)).tokenizer
    boxes = [(10.0 + i, 20.0 + i, 300.0 + i, 400.0 + i) for i in range(30)]
    for space in ("norm1000", "pixel", "norm1"):
        text = write_boxes(boxes, "late blight", space, width=1024, height=768)
        assert len(words(text)["input_ids"]) < room_for(words, space)
    version = transformers.OPEN({"path": str(base)}).version
    assert f"-{room_for(words, 'norm1000')}tokens-" in version


def test_reasoners_have_room_for_their_thoughts_too(tmp_path: Path) -> None:
    path = tiny.qwen2_5_vl(tmp_path / "reasoner")
    words = open_processor(str(path)).tokenizer
    version = transformers.OPEN({"path": str(path), "prompt": "seg_zero"}).version
    assert f"-{room_for(words, 'pixel840') + 1024}tokens-" in version


# --- memory ------------------------------------------------------------------------------------


class Small:
    """A model with memory for some requests at a time, whose reply is each one's first token."""

    def __init__(self, most: int) -> None:
        self.most, self.tried = most, list[int]()
        self.generation_config: Any = SimpleNamespace(eos_token_id=2)

    def generate(self, **given: Any) -> Any:
        ids = given["input_ids"]
        self.tried.append(len(ids))
        if len(ids) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate")
        return torch.cat([ids, ids[:, -1:], torch.full((len(ids), 1), 2)], dim=1)


@pytest.mark.parametrize(
    ("most", "tried"), [(8, [5]), (2, [5, 2, 3, 1, 2]), (1, [5, 2, 1, 1, 3, 1, 2, 1, 1])]
)
def test_a_batch_that_does_not_fit_is_halved(base: Path, most: int, tried: list[int]) -> None:
    model = Small(most)
    speaker = Speaker(model, open_processor(str(base)), "cpu", 4)
    ready = [Prepared({"input_ids": torch.tensor([[9, 40 + n]])}) for n in range(5)]
    words = speaker.answers(ready, list("abcde"), Drawn())
    decoded = [speaker.processor.tokenizer.decode([40 + n]) for n in range(5)]
    assert [each.text for each in words] == decoded
    assert model.tried == tried


def test_what_fits_nowhere_is_an_error_and_no_empty_answer(base: Path) -> None:
    speaker = Speaker(Small(0), open_processor(str(base)), "cpu", 4)
    (words,) = speaker.answers([Prepared({"input_ids": torch.tensor([[9]])})], ["a"], Drawn())
    assert (words.finish, words.text) == ("error", "")
    assert "out of memory" in (words.error or "")


def test_another_error_is_a_bug_and_crashes(base: Path) -> None:
    class Broken(Small):
        def generate(self, **given: Any) -> Any:
            raise RuntimeError("shapes cannot be multiplied")

    speaker = Speaker(Broken(1), open_processor(str(base)), "cpu", 4)
    with pytest.raises(RuntimeError, match="shapes"):
        speaker.answers([Prepared({"input_ids": torch.tensor([[9]])})], ["a"], Drawn())


# --- what it is shown --------------------------------------------------------------------------


def test_pixel_caps_bound_the_photo_and_stand_in_the_version(base: Path, tmp_path: Path) -> None:
    Image.new("RGB", (400, 300), (90, 120, 40)).save(tmp_path / "large.png")
    for options, grid in (({}, [6, 4]), ({"max_pixels": "4096"}, [4, 2])):
        processor = open_processor(str(base))
        most = options.get("max_pixels")
        caps = loading.cap(processor, None, int(most) if most else None, "here")
        made = Encoder(processor, [2]).ask("?", [Image.open(tmp_path / "large.png")])
        assert made.photos["image_grid_thw"].tolist() == [[1, grid[1], grid[0]]]
        assert f"-{caps}-" in open_model(base, **options).version
    with pytest.raises(Usage, match="min_pixels: expected no more than max_pixels"):
        open_model(base, min_pixels="5000", max_pixels="4000")
    without = SimpleNamespace(image_processor=SimpleNamespace(size={"height": 8, "width": 8}))
    assert loading.cap(without, None, None, "here") == (None, None)
    with pytest.raises(Usage, match="bounds on a photo's area"):
        loading.cap(without, None, 4096, "here")


@pytest.mark.parametrize(
    "sign", ["<|image_pad|>", "<|im_end|>", "<|vision_start|>", "<|endoftext|>"]
)
def test_a_models_own_sign_in_the_words_is_an_error(
    base: Path, photos: list[Path], sign: str
) -> None:
    request = Request(id="1", prompt=f"Is it {sign} rust?", images=(photos[0],))
    (words,) = open_model(base).reply([request])
    assert words.finish == "error"
    assert sign in (words.error or "")


def test_a_photo_that_the_processor_does_not_take_is_an_error(base: Path, tmp_path: Path) -> None:
    Image.new("RGB", (900, 2)).save(tmp_path / "thin.png")
    (words,) = open_model(base).reply(
        [Request(id="1", prompt="?", images=(tmp_path / "thin.png",))]
    )
    assert words.finish == "error"
    assert "200" in (words.error or "")  # its bound on the longer side over the shorter


def test_padding_is_left_to_ask_and_right_to_teach(base: Path, photos: list[Path]) -> None:
    encoder = Encoder(open_processor(str(base)), [2])
    some = [Image.open(photo) for photo in (photos[0], photos[2])]
    asking = [encoder.ask("?", [some[0]]), encoder.ask("Where is it?", [some[1]])]
    left = batch(asking, 0, "left", "cpu")
    short = asking[1].tokens - asking[0].tokens
    assert left["attention_mask"].sum(1).tolist() == [asking[0].tokens, asking[1].tokens]
    assert left["attention_mask"][0, :short].tolist() == [0] * short
    assert "labels" not in left
    teaching = [encoder.teach("?", [some[0]], "[]"), encoder.teach("Where?", [some[1]], "no")]
    right = batch(teaching, 0, "right", "cpu")
    words = open_processor(str(base)).tokenizer
    for row, reply, made in zip(right["labels"], ("[]", "no"), teaching, strict=True):
        counted = row[row != -100]
        assert words.decode(counted) == f"{reply}<|im_end|>"  # loss on the answer alone
        assert row[made.tokens - len(counted) : made.tokens].tolist() == counted.tolist()
    assert right["labels"].shape == right["input_ids"].shape


def test_a_prompt_is_the_same_asked_and_taught(base: Path, photos: list[Path]) -> None:
    encoder = Encoder(open_processor(str(base)), [2])
    photo = Image.open(photos[0])
    asking, teaching = encoder.ask("Where?", [photo]), encoder.teach("Where?", [photo], "[]")
    ids = teaching.words["input_ids"][0]
    assert ids[: asking.tokens].tolist() == asking.words["input_ids"][0].tolist()


# --- spaces ------------------------------------------------------------------------------------


def test_each_kind_declares_its_space_once() -> None:
    assert space_of("qwen3_vl", None) == "norm1000"
    assert space_of("qwen2_5_vl", None) == "pixel_resized"
    assert space_of("llava", "pixel") == "pixel"
    with pytest.raises(Usage, match="'llava'"):
        space_of("llava", None)


def test_pixels_of_a_resized_photo_need_the_rule_they_are_read_by(base: Path) -> None:
    with pytest.raises(Usage, match=r"multiples of 32 within 1024\.\.9216px"):
        open_model(base, space="pixel_resized")
    eyes = SimpleNamespace(patch_size=14, merge_size=2)
    processor = SimpleNamespace(image_processor=eyes)
    rule = loading.Caps(geometry.MIN_PIXELS, geometry.MAX_PIXELS)
    loading.same_rule("pixel_resized", rule, processor, "here")
    with pytest.raises(Usage, match=r"within 3136\.\.50176px"):
        loading.same_rule("pixel_resized", loading.Caps(3136, 50176), processor, "here")


# --- reasoners ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "boxes"),
    [
        (
            '<think>Is it [{"bbox_2d": [1, 2, 3, 4]}]?</think><answer>[{"bbox_2d": [84, 42, 420, '
            '210], "point_2d": [30, 110]}, {"bbox_2d": [0, 0, 840, 840], "point_2d": [9, 9]}]'
            "</answer>",
            [[20, 10, 100, 50], [0, 0, 200, 200]],
        ),
        (
            "<think>one leaf</think>\n<answer>{'bbox': [84, 42, 420, 210], 'points_1': [90, 50], "
            "'points_2': [300, 200]}</answer>",
            [[20, 10, 100, 50]],
        ),
        ("<think>nothing that fits</think><answer></answer>", []),
    ],
)
def test_reasoners_are_read_by_the_one_reader(text: str, boxes: list[list[float]]) -> None:
    reading = read_boxes(text, "pixel840", "stop")
    pixels = geometry.to_pixels(geometry.as_boxes(reading.boxes), "pixel840", 200, 200)
    assert pixels.tolist() == boxes
    assert reading.outcome == ("boxes" if boxes else "prose")
    assert set(reading.labels) <= {""}


def test_reasoners_see_a_square_and_are_asked_for_the_names(
    photos: list[Path], tmp_path: Path
) -> None:
    base = tiny.qwen2_5_vl(tmp_path / "reasoner")  # as both were made from
    model = transformers.OPEN({"path": str(base), "prompt": "vision_reasoner"})
    assert model.space == templates.SPACE == "pixel840"
    assert templates.stretched(Image.open(photos[0])).size == (840, 840)
    words = templates.words_of(Settings(path="x", prompt="vision_reasoner")) or ""
    named = Request(id="1", prompt="ignored", images=(), names=("rust", "late\nblight"))
    assert '"rust or late blight"' in templates.filled(words, named)
    assert "plant disease" in templates.filled(words, Request(id="1", prompt="", images=()))
    (tmp_path / "theirs.txt").write_text("Please find {Question}.")
    options = {"path": str(base), "prompt": "seg_zero"}
    theirs = transformers.OPEN({**options, "prompt_file": str(tmp_path / "theirs.txt")})
    assert theirs.version != transformers.OPEN(options).version
    own = Settings(path="x", prompt="seg_zero", prompt_file=str(tmp_path / "theirs.txt"))
    assert templates.words_of(own) == "Please find {Question}."
    (tmp_path / "theirs.txt").write_text("Please find it.")
    with pytest.raises(Usage, match="Question"):
        templates.words_of(own)
    with pytest.raises(Usage, match="prompt_file"):
        templates.words_of(Settings(path="x", prompt_file="y"))


def test_the_reasoners_square_is_not_resized_again(base: Path, tmp_path: Path) -> None:
    """840 is 30 x 28 pixels, and no multiple of 32; and an area that other bounds may leave out."""
    reasoner = tiny.qwen2_5_vl(tmp_path / "reasoner")
    for path, options, told in (
        (reasoner, {"max_pixels": "50176"}, r"multiples of 28 within 3136\.\.50176px"),
        (reasoner, {"min_pixels": "705601"}, r"multiples of 28 within 705601\.\.12845056px"),
        (base, {"max_pixels": "1000000"}, r"multiples of 32 within 1024\.\.1000000px"),
    ):
        with pytest.raises(Usage, match=told):
            open_model(path, prompt="seg_zero", **options)
    open_model(reasoner, prompt="seg_zero", min_pixels="705600", max_pixels="705600")
    open_model(base, prompt="seg_zero", space="norm1000")  # told otherwise


# --- weights that cannot be used ---------------------------------------------------------------


def test_a_kind_of_model_that_asks_for_another_library_is_told(tmp_path: Path) -> None:
    def how(_: str) -> None:
        raise ModuleNotFoundError("\nTimmWrapperModel requires the timm library.\nRun `pip ...`")

    with pytest.raises(Usage, match=r"got: TimmWrapperModel requires the timm library\.$"):
        opened(str(tmp_path), how)


def test_every_kind_of_device_that_is_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.xpu, "device_count", lambda: 2)
    with pytest.raises(Usage, match=r"it has: cpu, cuda:0, mps, xpu:0, xpu:1$"):
        pick_device("cuda:99")


def test_what_cannot_be_opened_says_why(base: Path, tmp_path: Path) -> None:
    with pytest.raises(Usage, match="got nothing there"):
        open_model(tmp_path / "nowhere")
    gone = ["cuda:99", "cuda:one"]
    gone += [] if torch.cuda.is_available() else ["cuda"]
    gone += [] if torch.accelerator.is_available() else ["mps", "xpu"]
    for device in gone:
        told = f"device: expected one that this machine has, got '{device}'; it has: cpu"
        with pytest.raises(Usage, match=told):
            open_model(base, device=device)
    with pytest.raises(Usage, match="device: expected auto, cpu, cuda"):
        open_model(base, device="gpu")
    with pytest.raises(Usage, match="patches"):
        open_model(base, patches="perhaps")
    shutil.copytree(base, tmp_path / "pickled")
    weights = tmp_path / "pickled" / "model.safetensors"
    torch.save({"x": torch.zeros(1)}, weights.with_name("pytorch_model.bin"))
    weights.unlink()
    with pytest.raises(Usage, match="safetensors"):
        open_model(tmp_path / "pickled")
    shutil.copytree(base, tmp_path / "own code")
    changed(
        tmp_path / "own code" / "config.json", model_type="mine",
        auto_map={"AutoConfig": "mine.C", "AutoModelForImageTextToText": "mine.M"},
    )  # fmt: skip
    (tmp_path / "own code" / "mine.py").write_text("raise SystemExit('it ran')")
    with pytest.raises(Usage):
        open_model(tmp_path / "own code")


def test_a_hub_name_without_a_network_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever network there is: no name below `.invalid` is ever found (RFC 2606)."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "https://hub.invalid")
    for proxy in ("https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    with pytest.raises(Usage, match="no network"):
        transformers.OPEN({"path": "nobody/nothing"})


def test_the_folder_serves_the_stock_classes_too(base: Path) -> None:
    """Where torchvision is installed; without it the same folder is read, and written, the same."""
    whole = json.loads((base / "processor_config.json").read_text())
    assert (
        whole["processor_class"] == type(open_processor(str(base))).__name__ == "Qwen3VLProcessor"
    )
    assert whole["video_processor"]["video_processor_type"] == "Qwen3VLVideoProcessor"
    pytest.importorskip("torchvision")
    from transformers import AutoProcessor

    assert type(AutoProcessor.from_pretrained(base)).__name__ == "Qwen3VLProcessor"


# --- adapters ----------------------------------------------------------------------------------


def adapter(base: Path, out: Path, rank: int = 4) -> Path:
    """LoRA weights drawn at random, so that they change what is said."""
    from transformers import AutoModelForImageTextToText

    peft = pytest.importorskip("peft")
    model = AutoModelForImageTextToText.from_pretrained(base)
    with hushed():
        made = peft.get_peft_model(
            model, peft.LoraConfig(r=rank, target_modules=".*language_model.*(q|v)_proj")
        )
    torch.manual_seed(1)
    for name, each in made.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(each, std=0.5)
    made.save_pretrained(out)
    return out


def test_an_adapter_changes_the_words_and_the_version(
    base: Path, photos: list[Path], tmp_path: Path
) -> None:
    made = adapter(base, tmp_path / "lora")
    bare, trained = open_model(base), open_model(base, adapter=str(made))
    assert bare.version != trained.version
    requests = asked(photos)
    assert list(bare.reply(requests)) != list(trained.reply(requests))
    fields: dict[str, Any] = {
        "method": "lora", "base": str(base), "space": "norm1", "min_pixels": 1024,
        "max_pixels": 4096, "step": 1, "base_weights": weights_of(str(base)),
    }  # fmt: skip
    card.write_card(made, card.Card(**fields))
    carded = open_model(base, adapter=str(made))
    assert carded.space == "norm1"  # as it was trained
    assert "-1024..4096px-" in carded.version
    assert bare.notes == ()
    (note,) = carded.notes  # the base beside it sees more, unless it is told
    assert "as in its training, at 1024..4096px; a base" in note
    assert "at 1024..9216px unless it is given min_pixels=1024,max_pixels=4096 too" in note
    alike = open_model(base, min_pixels="1024", max_pixels="4096")
    assert alike.notes == ()
    wider = open_model(base, adapter=str(made), max_pixels="9216")
    assert "-1024..9216px-" in wider.version
    (note,) = wider.notes
    assert "trained on photos of 1024..4096px and is asked about photos of 1024..9216px" in note
    moved = shutil.copytree(base, tmp_path / "moved")
    open_model(moved, adapter=str(made))  # the same weights elsewhere
    card.write_card(made, card.Card(**(fields | {"base_weights": "0" * 16})))
    with pytest.raises(Usage, match="another base"):
        open_model(base, adapter=str(made))
    (made / card.NAME).write_text("{")
    with pytest.raises(BadRecord, match=r"fieldtruth\.json"):
        open_model(base, adapter=str(made))


def test_an_adapter_for_another_base_is_one_clear_error(base: Path, tmp_path: Path) -> None:
    made = adapter(base, tmp_path / "lora")
    changed(made / "adapter_config.json", base_model_name_or_path="somebody/else")
    with pytest.raises(Usage, match=r"adapter for .*, got one for another base \(somebody/else\)"):
        loading.attach(loading.load(str(base), "cpu", "auto"), "nobody/this", str(made))
    larger = tmp_path / "larger"
    tiny.qwen3_vl(larger, hidden=96)
    with pytest.raises(Usage, match="another base"):
        open_model(larger, adapter=str(made))
    with pytest.raises(Usage, match=r"adapter_model\.safetensors"):
        open_model(base, adapter=str(tmp_path))


# --- on a CPU ----------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [(0, 2), (0, 1, 3), (0, 3, 3), (3,)])
def test_the_cpus_order_of_arithmetic_keeps_logits_and_gradients(
    base: Path, photos: list[Path], which: tuple[int, ...]
) -> None:
    """2e-6 of the logits' size: photos of one size, of several, of too many, and one alone."""
    encoder = Encoder(open_processor(str(base)), [2])
    some = [encoder.teach("Where?", [Image.open(photos[n])], "[]") for n in which]
    given = batch(some, 0, "right", "cpu")
    found = []
    for patched in (False, True):
        model = loading.load(str(base), "cpu", "float32").model
        if patched:
            assert on_cpu.patch(model) == 3
        with torch.inference_mode():
            answered = model(**given).logits
        made = model(**given)
        made.loss.backward()
        eyes = model.model.visual.patch_embed.proj.weight.grad
        found.append((answered, made.logits.detach(), eyes))
    for stock, ours in zip(*found, strict=True):
        assert torch.allclose(stock, ours, rtol=0, atol=2e-6 * max(1, float(stock.abs().max())))
    assert float(found[0][2].abs().max()) > 0


def test_patches_are_for_a_cpu_and_for_models_that_have_them(base: Path) -> None:
    weights = loading.load(str(base), "cpu", "float32")
    for patches, device, changed_there in (
        ("off", "cpu", False),
        ("auto", "cuda", False),
        ("auto", "cpu", True),
    ):
        weights = loading.load(str(base), "cpu", "float32")
        loading.quicken(weights, device, patches)  # type: ignore[arg-type]
        assert ("forward" in vars(weights.model.model.visual.patch_embed)) is changed_there
    with pytest.raises(Usage, match="patches=on"):
        loading.quicken(weights._replace(kind="llava"), "cpu", "on")
