"""A span with another figure for the same is no evidence; one that writes it otherwise is."""

# ruff: noqa: RUF001 - signs that look like others are what is read here
import pytest

from drift.evidence.contradiction import uncontradicted

RENT = "The rent is 4,850 euros a month."

CONTRADICTS = [
    # numbers and amounts
    (RENT, "The rent is 3,920 euros a month."),
    (RENT, "For the bakery the monthly rent comes to 3,920 euros, payable in advance."),
    (RENT, "Rent: 3.920,00 EUR"),
    (RENT, "The rent is 48,500 euros a month."),
    (RENT, "The rent is EUR 4,580 per month."),
    ("The rent is 4,850 a month.", "The rent is 3,920 euros a month."),
    ("It is 4,850 euros a month.", "The rent is 3,920 euros a month."),
    ("The fee is 15 million.", "The fee is 1.5 million."),
    ("The fee is 1.5 million euros.", "The fee is 15 million euros."),
    ("The rent is 4.85k EUR.", "The rent is 3,920 EUR."),
    ("The rent is 4,000 euros a month.", "The rent is 3,920 euros a month."),
    ("The highest rent is 4,850 euros.", "The highest rent is 5,100 euros."),
    ("The harbour has four cranes.", "The harbour has six cranes."),
    ("The harbour has 4 cranes.", "The harbour has twenty-five cranes."),
    ("The dam holds 3 million cubic metres.", "The dam holds 8 million cubic metres."),
    ("The crane lifts 12 tons.", "The crane can lift 15 tons."),
    ("Test 5 failed.", "Test 6 failed."),
    ("The share is 12 %.", "The share is 21 per cent."),
    ("In 2024 the rent was 4,850 euros.", "In 2024 the rent was 3,920 euros."),
    ("In 2024, the rent was 4,850 euros.", "In 2024, the rent was 3,920 euros."),
    (RENT, "Rent: 3,920 EUR, deposit: 9,700 EUR"),
    (RENT, "The rent for the bakery\nis 3,920 euros, payable\nin advance."),
    # units and currencies
    ("The tunnel is 5 miles long.", "The tunnel is 5 km long."),
    ("The rent is 4,850 dollars.", "The rent is 4,850 euros."),
    ("The rent is 4,850 euros a year.", "The rent is 4,850 euros a month."),
    ("The lease runs for 10 years.", "The lease runs for 10 months."),
    ("The pump weighs 5 kg.", "The pump weighs 5 tons."),
    # signs
    ("It was 5 °C in the hall.", "It was -5 °C in the hall."),
    ("The price is 5 EUR.", "The price is -5 EUR."),
    # dates, times, versions
    ("The lease was signed on 14 March 2026.", "The lease was signed on 2026-03-15."),
    ("The lease was signed on 14 March 2026.", "The lease was signed on 14 March 2025."),
    ("The mill was founded in 1990.", "The mill was founded in 1998."),
    ("The crane was replaced in October.", "The crane was replaced in May."),
    ("The crane was replaced in October 2025.", "The crane was replaced in October 2023."),
    ("The gate opens at 9:30.", "The gate opens at 10:30."),
    ("The gate closes at 3 pm.", "The gate closes at 17:00."),
    ("The server runs version 2.1.4.", "The server runs version 2.1.7."),
    # other languages
    ("Die Miete beträgt 4.850 Euro im Monat.", "Die Miete beträgt 3.920 Euro im Monat."),
    ("Die Miete beträgt 4.850 €.", "Miete: 3.920 €"),
    ("Der Hafen hat vier Kräne.", "Der Hafen hat sechs Kräne."),
    ("Le loyer est de 4 850 euros par mois.", "Le loyer est de 3 920 euros par mois."),
    ("El alquiler es de 4.850 euros al mes.", "El alquiler es de 3.920 euros al mes."),
    ("賃料は月額4850円です。", "賃料は月額3920円です。"),
    ("賃料は15万円です。", "賃料は12万円です。"),
    ("租金是每月4850欧元。", "租金是每月3920欧元。"),
    ("租金是四千八百五十欧元。", "租金是三千九百二十欧元。"),
    ("合同于2026年3月14日签订。", "合同于2025年3月14日签订。"),
    ("الإيجار ٤٨٥٠ يورو في الشهر.", "الإيجار ٣٩٢٠ يورو في الشهر."),
    ("Арендная плата составляет 4850 евро.", "Арендная плата составляет 3920 евро."),
    ("임대료는 월 4850유로입니다.", "임대료는 월 3920유로입니다."),
]

AGREES = [
    # the same, written another way
    (RENT, RENT),
    (RENT, "Rent: 4.850,00 EUR per month"),
    (RENT, "The rent is 4 850 € a month."),
    (RENT, "The rent is 4850.00 euros."),
    (RENT, "The rent is €4.85k a month."),
    (RENT, "The rent is four thousand eight hundred and fifty euros a month."),
    (RENT, "The rent is 58,200 euros a year."),
    (RENT, "The monthly rent was 3,920 euros and is now 4,850 euros."),
    ("The harbour has four cranes.", "The harbour has 4 cranes."),
    ("Der Hafen hat 25 Kräne.", "Der Hafen hat fünfundzwanzig Kräne."),
    ("The tunnel is 5 miles long.", "The tunnel is 8 km long."),
    ("The tunnel is 1.2 km long.", "The tunnel is 1,200 m long."),
    ("It was 68 °F in the hall.", "It was 20 degrees Celsius in the hall."),
    ("The share is 12 %.", "The share is 12 per cent."),
    ("The share is 12 %.", "The share is 12.3 %."),
    ("Pi is 3.14.", "Pi is 3.14159."),
    ("The dam holds 15 million cubic metres.", "The dam holds 15,320,118 cubic metres."),
    ("The rent is about 4,900 euros.", "The rent is 4,850 euros."),
    ("The rent is over 4,000 euros.", "The rent is 4,850 euros."),
    ("The crane lifts up to 12 tons.", "The crane lifts 10 tons."),
    ("The crane lifts 11 tons.", "The crane lifts 10 to 12 tons."),
    ("The lease was signed on 14 March 2026.", "The lease was signed on 14.3.2026."),
    ("The lease was signed on 14 March 2026.", "2026-03-14: the lease was signed."),
    ("The lease was signed in March 2026.", "The lease was signed on March 14th, 2026."),
    ("The lease was signed in 2026.", "The lease was signed on 3/14/2026."),
    ("The crane was replaced in October.", "The crane was replaced on 3 October 2025."),
    ("The mill was founded in the 1990s.", "The mill was founded in 1994."),
    ("The gate closes at 3 pm.", "The gate closes at 15:00."),
    ("The server runs version 2.1.", "The server runs version 2.1.7."),
    ("賃料は15万円です。", "賃料は150,000円です。"),
    ("賃料は4,850円です。", "賃料は四千八百五十円です。"),
    ("租金是四千八百五十欧元。", "租金是每月4850欧元。"),
    ("面积为1.5万平方米。", "面积为15000平方米。"),
    ("合同于2026年3月14日签订。", "合同签订日期：2026-03-14"),
    ("الإيجار ٤٨٥٠ يورو.", "الإيجار 4850 يورو."),
    ("Le loyer est de 4 850 euros.", "Le loyer est de 4850 € par mois."),
    # several sources, derived values
    ("The rents are between 3,920 and 4,850 euros.", "The rent is 3,920 euros a month."),
    ("The rent rose from 3,920 to 4,850 euros.", "The rent is 4,850 euros a month."),
    ("The rent is 930 euros higher.", "The rent went from 3,920 to 4,850 euros."),
    ("The two leases run until 2030.", "The lease runs until 2030."),
    (
        "The rent and the garage cost 5,000 euros.",
        "The rent is 4,850 and the garage costs 150 euros.",
    ),
    ("He was 70 years old when he died.", "Born in 1802, he died in 1872."),
    # other kinds, other things
    (RENT, "Deposit: 9,700 EUR, payable with the first rent"),
    ("The deposit is 9,700 euros.", "Rent: 3,920 EUR, deposit: two rents"),
    (RENT, "The lease was signed in 2019."),
    (RENT, "The deposit is 9,700 euros."),
    (RENT, "The lease runs for 10 years."),
    (RENT, "The rent is due on the 3rd of each month."),
    (RENT, "The rent is set out in section 3 on page 12."),
    (RENT, "The rent is paid in advance."),
    ("The rent is paid in advance.", "The rent is 3,920 euros a month."),
    ("The rent was raised in 2024.", "The rent is 4,850 euros a month."),
    ("On page 12 the rent is set.", "The rent is set on page 14."),
    ("1. The rent is set.", "2. The rent is set in 3 parts."),
    ("The harbour is 12 metres deep.", "The harbour is 300 metres long."),
    ("The harbour has four cranes.", "The harbour has two quays."),
    ("The crane, which lifts 12 tons, was replaced.", "The crane was replaced after 15 years."),
    ("The rent is 4,850 euros and the deposit is 9,700 euros.", "The deposit is 9,700 euros."),
    (
        "The bakery pays a rent of 4,850 euros and a deposit.",
        "The bakery pays a deposit of 9,700 euros.",
    ),
    (
        "In 2024 sales were 5 million, and they have grown since 2020.",
        "In 2020 sales were 3 million.",
    ),
    ("Scrooge's clerk has fifteen shillings a week.", "Bob had but fifteen “Bob” a-week himself."),
    ("It is the second of three ghosts.", "You will be haunted by Three Spirits."),
    ("COVID-19 closed the port.", "COVID-20 closed the port for 3 weeks."),
    ("One of the cranes was replaced.", "Two cranes were replaced."),
    # what is denied, and losses
    ("The rent is no longer 3,920 euros.", "The rent is 4,850 euros."),
    ("The rent is not 3,920 euros.", "The rent is 4,850 euros."),
    ("Die Miete beträgt nicht mehr 3.920 Euro.", "Die Miete beträgt 4.850 Euro."),
    ("The loss was 5 million euros.", "The result was -5 million euros."),
    ("The crane lifts not more than 12 tons.", "The crane lifts 10 tons."),
    # parts, ordinals, notes
    ("The first 3 chapters are short.", "There are 12 chapters."),
    ("The population grew by 12 %.", "The population grew from 100 to 112."),
    ("The notice period is 3 months.", "The notice period is 90 days."),
    ("Python 3.11 or later is needed.", "Python 3.12 is needed."),
    ("The 2nd crane was replaced.", "The 3rd crane was replaced in 2019."),
    ("The mill burned in the 19th century.", "The mill burned in 1843."),
    ("The rent is set [3].", "The rent [12] is 4,850 euros."),
]


@pytest.mark.parametrize(("sentence", "span"), CONTRADICTS)
def test_another_figure_of_the_same_contradicts(sentence: str, span: str) -> None:
    assert uncontradicted(sentence, [span]) == [False]


@pytest.mark.parametrize(("sentence", "span"), AGREES)
def test_what_may_be_right_does_not(sentence: str, span: str) -> None:
    assert uncontradicted(sentence, [span]) == [True]


LEASES = ("The rent is 4,850 euros a month.", "The rent is 3,920 euros a month.")
SEVERAL = [
    ("The rent is 4,850 euros a month.", LEASES, [True, False]),
    ("The rent is 4,500 euros a month.", LEASES, [False, False]),
    ("The rents are 4,850 and 3,920 euros a month.", LEASES, [True, True]),
    ("Together the rents are 8,770 euros a month.", LEASES, [True, True]),
    ("The rents add up to 8,770 euros a month.", LEASES, [True, True]),
    ("The rents differ by 930 euros a month.", LEASES, [True, True]),
    ("The highest rent is 4,850 euros a month.", LEASES, [True, True]),
    ("The average rent is 4,385 euros.", LEASES, [True, True]),
    ("The two leases have a rent of 4,850 and of 3,920 euros.", LEASES, [True, True]),
    ("The rent of A is 4,850 euros. The rent of B is 3,920 euros.", LEASES, [True, True]),
    (
        "Three cranes were replaced.",
        ("Two cranes were replaced in 2019.", "A crane was replaced in 2021."),
        [True, True],
    ),
    (
        "他の倉庫の賃料は合計8770円です。",
        ("賃料は4850円です。", "賃料は3920円です。"),
        [True, True],
    ),
]


@pytest.mark.parametrize(("sentence", "spans", "kept"), SEVERAL)
def test_what_combines_several_spans_is_held_against_none(
    sentence: str, spans: tuple[str, ...], kept: list[bool]
) -> None:
    assert uncontradicted(sentence, spans) == kept
