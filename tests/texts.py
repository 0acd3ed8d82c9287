"""Small books that several tests search."""

LIGHTHOUSE = """\
The Lighthouse Keeper

by Ann Harbour

CHAPTER I. The Lamp

Old Tobias kept the lighthouse at Carrow Point for forty years. Every evening he climbed the two hundred steps, lit
the lamp and wound the great clock that turned it.

He ate his supper of bread and herring alone, and wrote the weather into his book.

CHAPTER II. The Storm

The storm of that November broke the clock. Tobias turned the lamp by hand until the morning, and no ship was lost.

CHAPTER III. The Niece

Tobias died in the spring. His niece Margaret came from the city and took the lamp, and she kept it until the war.
"""

KITCHEN = """\
A Book of Country Bread

by Peter Miller

CHAPTER I. Flour

Bread begins with flour. Rye makes a dark, sour loaf, and wheat a light one. Sift the flour twice before you weigh it.

CHAPTER II. The Oven

Heat the oven until a pinch of flour browns in a minute. A loaf of two pounds needs three quarters of an hour.
"""

TALES = """\
Tales of the Marsh

by Ida Fenn

CHAPTER I. The Harbour

Ada walked to the harbour before dawn and counted the boats that had come in with the evening tide, as she always did.

Two barrels of salted herring stood on the quay, and a merchant from the north paid her for both of them in silver.

The nets were torn, so she sat among the empty baskets and mended them until the sun stood over the breakwater.

A pilot told her that the sandbank had moved again in the gale, and that the old chart was not to be trusted any more.

She drew the new channel on the back of a sail with charcoal, and hung it where every skipper would see it.

By noon the fleet was out again, and only the gulls and the ship's cat were left to quarrel over the fish heads.

CHAPTER II. The Orchard

Boris pruned the pear trees in February while the ground was still hard and the buds were closed like fists.

His grandmother kept bees behind the hedge, and she told them of every birth and every funeral in the family.

A late frost came in April, and all night they burned wet straw between the rows to keep the blossom from freezing.

In summer the wasps found the early plums, and the boy hung jars of sweet vinegar in the branches to drown them.

They pressed cider in October with a stone press that two ponies turned, and the whole yard smelled of apples.

The last crate went to the school, where the teacher let each child choose one pear and draw it before eating it.

CHAPTER III. The Trial

Clara wrote a long letter to the magistrate about the broken wall beside the churchyard and who had broken it.

The hearing was held above the inn, since the roof of the courthouse leaked on the bench and on the clerk.

Three witnesses swore that a grey horse had kicked the stones loose, and one swore that there was no horse at all.

The carter wept when his bill was read aloud, and offered to pay for the mortar if nobody told his wife.

The judge laughed until his wig slipped, fined him a shilling, and sent both parties to mend the wall together.

On Sunday the wall stood straight again, and somebody had carved a small grey horse into its topmost stone.

CHAPTER IV. The Mill

Dmitri found a brass key under the floor of the mill while he was looking for the place where the rats came in.

He told nobody, and carried a lantern through the marsh to the drowned chapel, whose door had never been opened.

The key turned. Inside stood an iron chest, and in the chest lay the ledgers of the miller's grandfather.

They showed that the barley of forty years had been weighed with a false stone, a pound short in every sack.

The miller came after him with a cudgel, but when he had read three pages he sat down on the wet steps in silence.

In the morning the false stone lay at the bottom of the millpond, and flour was given to every house that asked.
"""

SUMMARY = (
    "A young man discovers a hidden key in a mill. With a light he crosses the swamp to a flooded church. "
    "He opens a box of old account books. They prove that the customers were cheated over their grain for decades. "
    "The owner wants to beat him, but is ashamed when he reads. At last the people are given back what they are owed."
)
"""Of the last chapter of `TALES`: its events in their order, in other words."""

FOREIGN = {
    "de": (
        "Der alte Schmied wohnte am Rand des Dorfes, wo die Straße zum Wald hinaufführt. Er hatte drei Häuser "
        "für seine Söhne gebaut, aber keiner von ihnen wollte bleiben. Als der Winter kam, ging der jüngste mit "
        "einem Hufeisen in der Tasche fort und versprach, im Frühling wieder da zu sein.\n\n"
        "Im Dorf wurde erzählt, dass er auf einem Schiff nach Norden gefahren sei. Die Mutter stellte jeden "
        "Abend eine Laterne in das Fenster."
    ),
    "fr": (
        "La vieille boulangère se levait avant tout le monde pour allumer le four. Elle avait appris ce métier "
        "de son père, qui ne parlait presque jamais. Dans le village, on disait que ses chevaux blancs "
        "connaissaient le chemin de la gare.\n\n"
        "Un matin, elle trouva une lettre sous la porte. Son frère était dans une ville du sud, et il ne "
        "voulait plus revenir."
    ),
    "ru": (
        "Старый капитан жил на берегу и каждый вечер смотрел на море. Он ждал корабля, который должен был "
        "вернуться ещё весной. Никто в деревне не верил, что корабли находят дорогу зимой.\n\n"
        "Однажды ночью он увидел огонь и побежал к пристани. Там стоял мальчик с письмом от его дочери."
    ),
    "zh": (
        "老渔夫住在海边的小屋里，每天早上都去看灯塔。他的女儿在城里学习音乐，很少回家。"
        "村里的人说，灯塔的灯是他父亲点的。\n\n"
        "有一天，他在船上找到了一封信。信里说，女儿要带着小提琴回来，和他一起过冬天。"
    ),
    "ja": (
        "古い町に時計を直す職人が住んでいた。彼は毎朝、川のそばを歩いて店に行った。"
        "子どものころ、父から時計の仕組みを教わったのだ。\n\n"
        "ある日、知らない女の人が金の時計を持ってきた。それは父がむかし作ったものだった。"
    ),
    "ko": (
        "늙은 목수는 강가의 작은 집에서 살았다. 그는 아침마다 나무로 배를 만들었다."
        " 마을 사람들은 그의 배가 가라앉지 않는다고 말했다.\n\n"
        "어느 날 소년이 찾아와 편지를 주었다. 편지에는 딸이 봄에 돌아온다고 적혀 있었다."
    ),
}
"""A short text in each of some languages, by its tag."""
