"""Texts of Aozora Bunko are read without the marks of their editors."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.reading import read_book

SENTENCE = (
    "　灯台《とうだい》の番人は毎朝｜塩の道《しおのみち》を歩いて港へ行った。"
    "妹は樽［＃「樽」に傍点］を二度数えて壁に書いた。\n"
)
RULE = "-" * 55 + "\n"
TEXT = (
    "塩の道\n葦野アダ\n\n"
    f"{RULE}【テキスト中に現れる記号について】\n\n《》：ルビ\n（例）灯台《とうだい》\n{RULE}\n"
    f"［＃７字下げ］一　港［＃「一　港」は中見出し］\n\n{SENTENCE * 12}\n"
    f"［＃７字下げ］二　樽［＃「二　樽」は中見出し］\n\n{SENTENCE * 12}\n\n"
    "底本：「塩の道」架空文庫\n　　　1911（明治44）年発行\n"
)


def test_readings_remarks_and_imprint_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "shio.txt"
    path.write_bytes(TEXT.encode("cp932"))
    book = read_book(path)
    assert (book.title, book.author, book.language) == ("塩の道", "葦野アダ", "ja")
    assert [section.title for section in book.sections] == ["一 港", "二 樽"]
    assert "　灯台の番人は毎朝塩の道を歩いて港へ行った。妹は樽を二度数えて" in book.text
    assert not any(mark in book.text for mark in "《》｜［］底")
    assert any("Aozora Bunko" in warning for warning in book.warnings)
