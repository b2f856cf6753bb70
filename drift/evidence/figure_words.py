"""Pure: the words that numbers, units and months are written with."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations


def _rows(table: str) -> list[list[str]]:
    return [row.split() for row in table.strip().split("\n")]


UNITS = {
    name: (kind, float(factor))
    for kind, factor, *names in _rows("""
money:eur 1 € eur euro euros 欧元 ユーロ 유로 евро يورو
money:usd 1 $ us$ usd dollar dollars 美元 米ドル ドル 달러
money:gbp 1 £ gbp
money:jpy 1 ¥ jpy yen 円 日元
money:cny 1 cny rmb yuan 元 人民币
money:chf 1 chf franken
money:inr 1 ₹ inr rupee rupees
percent 1 % percent prozent pct パーセント
length .001 mm
length .01 cm
length .0254 inch inches
length .3048 ft foot feet
length 1 m metre metres meter meters metern 米 メートル
length 1000 km kilometre kilometres kilometer kilometers kilometern 公里 キロメートル キロ км
length 1609.344 mi mile miles meile meilen 英里 マイル
mass .001 mg
mass 1 g gram grams gramm
mass 453.6 lb lbs
mass 1000 kg kilo kilos kilogram kilograms kilogramm 公斤 кг
mass 1000000 t ton tons tonne tonnes tonnen トン 吨
volume .001 ml
volume 1 l litre litres liter liters litern
speed 1 km/h kmh kph
speed 1.609344 mph
power 1 kw
power 1000 mw
data 1 mb
data 1000 gb
data 1000000 tb
celsius 1 °c
fahrenheit 1 °f
duration .0000115741 second seconds sekunde sekunden 秒
duration .000694444 min minute minutes minuten 分钟 分間
duration .0416667 h hour hours hrs stunde stunden heure heures 小时 時間
duration 1 day days tag tage tagen jour jours día días 天 日間
duration 7 week weeks woche wochen semaine semaines 周 週間
duration 30.4375 month months monat monate monaten mois mes meses 个月 か月 ヶ月 ヵ月
duration 365.25 year years jahr jahre jahren ans année années año años 年間
""")
    for name in names
}
"""The kind and the size of each unit; a currency is a kind of its own."""

SCALES = {
    name: int(factor)
    for factor, *names in _rows("""
100 hundred hundert cent
1000 k thousand tausend mille mil тыс 천
10000 만
100000 lakh
1000000 mn mio million millions millionen millón millones milione milioni млн
10000000 crore
100000000 억
1000000000 bn billion billions mrd milliarde milliarden milliard milliards млрд
1000000000000 trillion trillions billionen
""")
    for name in names
}
IDEOGRAPHS = {sign: n for n, sign in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
}
IDEOGRAPH_TENS = {"十": 10, "百": 100, "千": 1000}
IDEOGRAPH_SCALES = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}

MONTHS = {
    name: number
    for number, names in enumerate(
        _rows("""
january jan januar janvier enero gennaio
february feb februar février febrero
march mar märz mars marzo
april apr avril abril
may mai mayo
june jun juni juin junio
july jul juli juillet julio
august aug août agosto
september sep sept septembre septiembre
october oct okt oktober octobre octubre
november nov novembre noviembre
december dec dez dezember décembre diciembre
"""),
        start=1,
    )
    for name in names
}

TENS = {
    word: 10 * n
    for words in _rows("""
twenty thirty forty fifty sixty seventy eighty ninety
zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig
veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa
vingt trente quarante cinquante soixante
""")
    for n, word in enumerate(words, start=2)
}
CARDINALS = {
    word: n
    for words in _rows("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
sixteen seventeen eighteen nineteen
null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn \
sechzehn siebzehn achtzehn neunzehn
zéro un deux trois quatre cinq six sept huit - dix onze douze treize quatorze quinze seize
cero uno dos tres cuatro cinco seis siete ocho nueve diez - doce trece catorce quince
""")
    for n, word in enumerate(words)
    if word != "-"
}
"""Without the French nine and the Spanish eleven: they are words for other things too."""
CARDINALS |= TENS
CARDINALS |= {
    f"{one}und{ten}": TENS[ten] + n
    for n, one in enumerate("ein zwei drei vier fünf sechs sieben acht neun".split(), start=1)
    for ten in TENS
    if ten.endswith("ig")
}

PERIODS = {
    name: int(times)
    for times, *names in _rows("""
1 year yearly annual annually annum jahr jährlich jährliche an année annuel año anual 年
4 quarter quarterly quartal
12 month monthly monat monatlich monatliche mois mensuel mes mensual 月
52 week weekly woche wöchentlich semaine semana 周 週
365 day daily tag täglich jour día 日 天
8760 hour hourly stunde heure
""")
    for name in names
}
"""How often a period is in a year."""

PLACES = frozenset(
    """
    page pages p pp seite seiten s página pagina chapter chapters kapitel chapitre capítulo section
    sections sec abschnitt table tables tabelle tab figure figures fig abbildung abb footnote note
    fußnote line lines zeile zeilen appendix anhang annex volume vol band isbn
    """.split()
)
"""Words before a number that only says where something stands."""
