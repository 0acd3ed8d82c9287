"""Questions on the library's record in other languages: "Wer hat Emma geschrieben?", "¿Cuántos libros hay?"."""

from __future__ import annotations

import re
from functools import cache

from nlb_retriever.search.answers.digest_abroad import QUOTES, STOPS
from nlb_retriever.search.forms import LONGEST

_FORMS = (
    # English, and a form a line, in which T stands for a title, P for a word for parts and A for an author
    (
        "How many books are there?",
        r"""wie ?viele bücher (?:gibt es|sind|habe ich|haben wir|hast du)(?: (?:hier|in (?:der|meiner) bibliothek))?
        combien de livres (?:y a[- ]t[- ]il|ai[- ]je|avons[- ]nous)(?: (?:ici|dans (?:la|ma) bibliothèque))?
        combien y a[- ]t[- ]il de livres(?: (?:ici|dans (?:la|ma|cette) bibliothèque))?
        cu[aá]ntos libros (?:hay|tengo|tenemos|tienes)(?: (?:aquí|en (?:la|mi|esta) biblioteca))?
        quanti libri (?:ci sono|ho|abbiamo)(?: (?:qui|nella (?:mia )?biblioteca))?
        quantos livros (?:há|tenho|temos|existem)(?: (?:aqui|n[ae]s?t?a? (?:minha )?biblioteca))?
        hoeveel boeken (?:zijn er|heb ik|hebben we)(?: (?:hier|in (?:de|mijn|deze) bibliotheek))?
        hur många böcker (?:finns(?: det)?|har jag|har vi)(?: (?:här|i (?:mitt )?biblioteket?))?
        ile (?:jest|mam|mamy) książek(?: (?:tutaj|w (?:mojej )?bibliotece))?
        сколько (?:здесь |у меня )?книг(?: (?:здесь|у меня|в (?:моей )?библиотеке))?
        (?:图书馆|圖書館|书库|書庫|这里|這裡)?(?:里|裡|中)?(?:一共|共)?有(?:多少|几|幾)本?(?:书|書)
        (?:ここに)?本は何冊ありますか
        책[이은]? (?:모두 |총 )?몇 ?권\w*(?: \w+)?""",
    ),
    (
        "Who wrote {title}?",
        r"""wer (?:schrieb|verfasste) T
        wer hat T (?:geschrieben|verfasst)
        (?:wer ist|wie heißt) (?:der autor|die autorin|der verfasser|die verfasserin) (?:von|des|der) T
        von wem (?:ist|stammt) T
        qui a (?:écrit|composé) T
        (?:qui est|quel est) l['’]aut(?:eur|eure|rice) (?:de |du |des |d['’])T
        de qui est T
        qui[eé]n (?:escribió|ha escrito) T
        qui[eé]n es (?:el autor|la autora) (?:de|del) T
        chi ha scritto T
        chi è (?:l['’]autore|l['’]autrice) (?:di |del |della |dell['’]|dei )T
        quem escreveu T
        quem é (?:o autor|a autora) d[eoa] T
        wie schreef T
        wie heeft T geschreven
        wie is de (?:auteur|schrijver|schrijfster) van T
        vem (?:skrev|har skrivit) T
        vem är författaren? (?:till|av) T
        kto napisał T
        kto jest autor(?:em|ką) T
        кто написал T
        кто (?:является )?автор(?:ом)? T
        (?:谁|誰)(?:写|寫)了?T
        T是?(?:由)?(?:谁|誰)(?:写|寫)的
        T的?作者是(?:谁|誰)
        T(?:を書いたのは|の(?:作者|著者)は)(?:誰|だれ)(?:ですか)?
        T[을를] (?:누가 썼(?:나요|어요|습니까|지|어)|쓴 (?:사람|작가)[은는이]? 누구\w*)
        T(?:의)? (?:저자|작가|지은이)[는가]? 누구\w*""",
    ),
    (
        "How many {parts} are in {title}?",
        r"""wie ?viele P (?:hat|besitzt|enthält|umfasst) T
        wie ?viele P (?:gibt es|sind|stehen) (?:in|im) T
        combien d(?:e |['’])P (?:y a[- ]t[- ]il dans|contient|compte|comporte|a) T
        combien y a[- ]t[- ]il d(?:e |['’])P dans T
        combien d(?:e |['’])P T (?:a|contient|compte|comporte)[- ]t[- ](?:il|elle)
        cu[aá]nt[oa]s P (?:tiene|hay en|contiene) T
        quant[ie] P (?:ha|contiene|ci sono (?:in|nel|nella|nell['’])) ?T
        quant[oa]s P (?:tem|contém|há n?[oea]m?|existem n?[oea]m?) T
        hoeveel P (?:heeft|telt|bevat|zijn er in|staan er in) T
        hur många P (?:har|innehåller|finns (?:det )?i) T
        ile P (?:ma|zawiera|jest w) T
        сколько P (?:в|во|содержит|имеет|есть в) T
        T(?:一共|总共|總共|共)?有(?:多少|几|幾)(?:个|個)?P
        Tは(?:全部で)?(?:全)?何P(?:ありますか|ですか|あるの|から(?:なる|なりますか)|まで(?:ありますか|ですか)?)?
        T[은는에]?(?:는)? (?:총 |모두 )?몇 ?P\w*""",
    ),
    (
        "When was {title} written?",
        r"""(?:wann|in welchem jahr) (?:wurde|ist) T (?:geschrieben|veröffentlicht|erschienen)(?: worden)?
        (?:wann|in welchem jahr) erschien T
        (?:quand|en quelle année) (?:a été|fut) (?:écrite?|publiée?) T
        (?:quand|en quelle année) T (?:a[- ]t[- ](?:il|elle) été|fut[- ](?:il|elle)) (?:écrite?|publiée?)
        (?:cu[aá]ndo|en qué año) (?:se|fue) (?:escribió|publicó|escrit[oa]|publicad[oa]) T
        (?:quando|in (?:che|quale) anno) (?:è stat[oa]|fu) (?:scritt[oa]|pubblicat[oa]) T
        (?:quando|em que ano) foi (?:escrit[oa]|publicad[oa]) T
        (?:wanneer|in welk jaar) (?:is|werd) T (?:geschreven|gepubliceerd|verschenen)
        (?:när|vilket år) (?:skrevs|utgavs|publicerades) T
        (?:kiedy|w którym roku) (?:napisano|wydano|powstał[ao]?) T
        (?:когда|в каком году) (?:был[аио]? )?(?:написан|издан|опубликован)[аыо]? T
        T是(?:什么时候|什麼時候|哪一?年)(?:写|寫|出版)的""",
    ),
    (
        "Which books by {author} are there?",
        r"""welche bücher von A (?:gibt es|sind hier|habe ich|haben wir|hast du)(?: \w+)?
        quels livres d(?:e |['’])A (?:y a[- ]t[- ]il|ai[- ]je|avons[- ]nous)(?: ici)?
        qué libros de A (?:hay|tengo|tenemos)(?: aquí)?
        (?:quali|che) libri di A (?:ci sono|ho|abbiamo)(?: qui)?
        (?:quais|que) livros d[eoa] A (?:há|tenho|temos)(?: aqui)?
        welke boeken van A (?:zijn er|heb ik|hebben we)(?: hier)?
        vilka böcker av A (?:finns(?: det)?|har jag|har vi)(?: här)?""",
    ),
)  # fmt: skip
_PARTS = {
    "chapters": "kapitel|chapitres|capítulos|capitulos|capitoli|hoofdstukken|rozdziałów|глав|章|回|장",
    "acts": "akte|actes|actos|atti|atos|akter|aktów|действий|актов|幕|막",
    "parts": "teile|parties|partes|parti|delen|delar|części|частей|部|부",
    "volumes": "bände|tomes|tomos|volumi|volumes|banden|tomów|томов|卷|巻|권",
    "books": "bücher|livres|libros|libri|livros|boeken|böcker|książek|ksiąg|книг",
    "stories": "geschichten|erzählungen|märchen|contes|nouvelles|cuentos|racconti|contos|verhalen|berättelser|opowiadań"
    "|рассказов|сказок",
    "poems": "gedichte|poèmes|poemas|poesie|gedichten|dikter|wierszy|стихотворений",
}
_FIRST = re.compile(
    r"(?:wer|von wem|wie|wann|welche|qui|de qui|quels?|combien|quand|en quelle|qui[eé]n|cu[aá]nt[oa]s|cu[aá]ndo|qué"
    r"|en qué|chi|quant[ieoa]s?|quando|quali|che|in (?:welchem|che|quale|welk)|quem|em que|quais|que|hoeveel|wanneer"
    r"|welke|vem|hur|när|vilka|vilket|kto|ile|kiedy|w którym|кто|сколько|когда|в каком) "
    r"|.{0,200}?[\u3040-\u9fff\uac00-\ud7a3]",
    re.IGNORECASE,
)
"""Only of such questions the forms are compiled, which takes longer than a search."""
_WORK = (
    "(?:(?:das|dieses|dem|diesem|les?|ce|el|este|il|questo|o|het|dit|эта|этой|эту) )?"
    "(?:buch(?:es)?|roman(?:s|zo|ce)?|libro|livre|livro|novela|boek|boken|książka|książki|книг[аеиу]|романе?"
    "|这本书|這本書|この本|이 책)"
)
_THIS = re.compile(_WORK, re.IGNORECASE)
_CALLED = re.compile(rf"{_WORK} (?=[{QUOTES.strip()}])", re.IGNORECASE)
_INFLECTED = re.compile("(?:den|dem|des|der) ")
"""Articles that a title may have otherwise: "Wer hat den Prozess geschrieben?"."""


def record_in_english(question: str) -> str:
    """A question on a book's author, year or parts, or on the library's books, as an English one; others as they are.

    "Wie viele Kapitel hat Emma?" becomes "How many chapters are in Emma?".
    """
    bare = question.strip(STOPS)
    if len(question) > LONGEST or not _FIRST.match(bare):
        return question
    for english, form in _forms():
        if match := form.fullmatch(bare):
            found = {"title": "", "author": "", "parts": "", **match.groupdict()}
            parts = next(part for part, words in _PARTS.items() if found["parts"].lower() in ("", *words.split("|")))
            return english.format(title=_name(found["title"]), author=found["author"], parts=parts)
    return question


def _name(title: str) -> str:
    title = title.strip()
    if _THIS.fullmatch(title):
        return "this book"
    return _INFLECTED.sub("", _CALLED.sub("", title), count=1).strip(QUOTES)


@cache
def _forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    groups = {"T": "(?P<title>.+?)", "P": rf"(?P<parts>{'|'.join(_PARTS.values())})", "A": "(?P<author>.+?)"}
    return tuple(
        (english, re.compile(re.sub("[TPA]", lambda letter: groups[letter[0]], form.strip()), re.IGNORECASE))
        for english, forms in _FORMS
        for form in forms.split("\n")
    )
