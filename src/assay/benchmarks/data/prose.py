from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from random import Random


@dataclass(frozen=True)
class Language:
    """Common words, and the encodings in which pages of this language are met on the web."""

    code: str
    words: tuple[str, ...]
    encodings: tuple[str, ...]
    space: str = " "
    stop: str = ". "


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LANGUAGES = (
    Language(
        "en",
        _words(
            "the of and to in a is that for it was on with as at by from this have are not but they which one all had "
            "their there been people time water work years other before small river market winter engine garden "
            "measure letter number morning paper answer village question between always history station light "
            "weather bridge harbour signal kitchen window teacher journey council picture machine forest railway"
        ),
        ("utf-8", "windows-1252", "us-ascii"),
    ),
    Language(
        "de",
        _words(
            "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus "
            "er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber "
            "größe straße mühle wörter jahre fluss brücke bücher zeitung frühling gärten schlüssel köche höhe "
            "werkstatt bahnhof kirche wasser abend müde später während prüfung erklärung"
        ),
        ("utf-8", "iso-8859-1", "windows-1252"),
    ),
    Language(
        "fr",
        _words(
            "le de un être et à il avoir ne je son que se qui ce dans en du elle au pour pas sur avec plus par mais "
            "tout comme nous même où aussi été année déjà fenêtre marché hiver rivière école matinée théâtre "
            "bibliothèque réponse forêt château première lumière côté garçon leçon voilà question machine gare pluie"
        ),
        ("utf-8", "iso-8859-1", "iso-8859-15"),
    ),
    Language(
        "es",
        _words(
            "el de que y a en un ser se no haber por con su para como estar tener le lo todo pero más hacer o poder "
            "decir este ir otro ese si me ya ver porque dar cuando él muy sin vez mucho saber qué sobre mí alguno "
            "año niño mañana río ciudad montaña estación cocina ventana señal jardín lápiz público época camino puente"
        ),
        ("utf-8", "iso-8859-1", "windows-1252"),
    ),
    Language(
        "pl",
        _words(
            "i w na z do się nie to że o jak za co ale po jest od tak przez był być dla już tylko jego ich może czy "
            "rok człowiek dzień czas praca życie ręka miasto woda słowo książka rzeka most święto ścieżka źródło "
            "ogród żółty zima jesień mąka łódź dźwięk początek późno światło kuchnia okno pytanie odpowiedź"
        ),
        ("utf-8", "iso-8859-2", "windows-1250"),
    ),
    Language(
        "ru",
        _words(
            "и в не на я быть он с что а по это она этот к но они мы весь который из у свой вы так за для от мочь "
            "год человек время рука дело раз глаз жизнь день голова дом место вопрос город вода дорога книга окно "
            "зима река мост письмо утро лес школа ответ машина погода станция свет сад кухня учитель рынок история"
        ),
        ("utf-8", "windows-1251", "koi8-r"),
    ),
    Language(
        "el",
        _words(
            "και το να του η της με που την από για είναι στο οι των δεν θα σε μας αυτό ένα μια στην τα ως αλλά "
            "χρόνος νερό δρόμος πόλη σπίτι βιβλίο παράθυρο ημέρα νύχτα γέφυρα ποτάμι χειμώνας σχολείο ερώτηση "
            "απάντηση φως κήπος δάσος μηχανή σταθμός καιρός γράμμα πρωί ιστορία αγορά"
        ),
        ("utf-8", "iso-8859-7", "windows-1253"),
    ),
    Language(
        "ja",
        _words(
            "これは その 日本 時間 の に を は が と で した ます 人々 仕事 川の 水が 市場 "
            "冬に 庭の 朝から 手紙 駅まで 学校 質問 答えは "
            "橋を 森の 天気 歴史 台所 先生と 旅行 機械 鉄道 "
            "新しい 小さな 大きい いつも 今年 来週 窓から 光を 読む 書いた 話して 見える"
        ),
        ("utf-8", "shift_jis", "euc-jp"),
        space="",
        stop="。",
    ),
    Language(
        "zh",
        _words(
            "我们 的 是 在 不 了 有 和 人们 这个 中间 大家 为什么 上面 国家 时间 可以 工作 河流 市场 "
            "冬天 花园 早晨 信件 车站 学校 问题 "
            "回答 桥梁 森林 天气 历史 厨房 老师 旅行 机器 铁路 "
            "新的 小的 一直 今年 明天 窗户 光线 阅读 写作 讲述 看见 城市 山路 数字"
        ),
        ("utf-8", "gb18030"),
        space="",
        stop="。",
    ),
)

_SYLLABLES = tuple(c + v for c in "bdfgklmnprstv" for v in ("a", "e", "i", "o", "u", "an", "or", "el"))


class Prose:
    """Seeded sentences with word frequencies as in real text (Zipf's law), names and numbers among them."""

    def __init__(self, language: Language, rng: Random) -> None:
        self.language = language
        self.rng = rng
        self._weights = list(accumulate(1.0 / (rank + 3) for rank in range(len(language.words))))

    def words(self, count: int) -> list[str]:
        chosen = self.rng.choices(self.language.words, cum_weights=self._weights, k=count)
        for at in range(count):
            roll = self.rng.random()
            if roll < 0.04:
                chosen[at] = self.name()
            elif roll < 0.06:
                chosen[at] = str(self.rng.randint(2, 2100))
        return chosen

    def name(self) -> str:
        return "".join(self.rng.choices(_SYLLABLES, k=self.rng.randint(2, 4))).capitalize()

    def sentence(self) -> str:
        words = self.words(self.rng.randint(6, 22))
        if len(words) > 12 and self.language.space:
            words[5] += ","
        text = self.language.space.join(words)
        return text[:1].upper() + text[1:] + self.language.stop.strip()

    def paragraph(self, sentences: int) -> str:
        gap = " " if self.language.space else ""
        return gap.join(self.sentence() for _ in range(sentences))

    def document(self, paragraphs: int) -> list[str]:
        return [self.paragraph(self.rng.randint(2, 7)) for _ in range(paragraphs)]
