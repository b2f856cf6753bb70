"""Pure: English words by what they do in a text, for rules that look for names and terms."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

from drift.core.stop_words import MONTHS_AND_DAYS

BEFORE_NOUNS = frozenset(
    """
    the a an of in on for with by from and or as at into its their his her our my your this these
    that those no any some each every between against over under about through during via per all
    both most many several other another such than without within among , ( : " “ ; - – —
    """.split()
)
"""What a noun phrase begins after."""

COMMON_WORDS = MONTHS_AND_DAYS | frozenset(
    """
    eight eleven twelve fifteen twenty thirty forty fifty sixty allow allows wrote writes warn
    warns hopes hope reports able according smaller smallest greater greatest lowest highest
    latest newest oldest biggest bigger same longest shortest lower upper actually add added ago
    almost along already always among amount another anyone anything appear appeared aren't around
    ask asked attempts available away back bad based basis became become began begin behind
    believe best better beyond big bit bring brought call called came can't certain certainly
    clear click close come comes coming common complete consider considered contain contains
    content continue continued copyright couldn't couple create created current currently decided
    despite didn't different difficult doesn't don't done download dr due earlier early easy ended
    enough entire especially etc ever every everybody everyone everything exactly expected far
    fashion feel felt fewer fig final finally find first five followed former forward found four
    full fully gave general generally get getting give given gives go goes going gone good got
    great guy hadn't handful happen happened hard hasn't haven't he's help herself high higher
    himself hold i'd i'll i'm i've immediately important include included includes including
    increased inside isn't it's keep kept knew know known large larger largest late later least
    leave left let's likely little live login long longer look looking lots made main make makes
    making maybe mean means mention middle move moved mr mrs ms myself named near nearly need
    needed needs never new next nine nobody none nothing old ones online open others ourselves
    particular past perhaps played please possible present previous probably provide provided put
    quite reach reached read real really recent recently regarding remain remained reported right
    said saw say saying says search second see seem seemed seems seen send sent seven several
    shall share she's short show showed shown shows similar simple simply single six size small
    someone something sometimes soon special start started stay still stop strong subscribe sure
    table take taken takes taking tell ten that's themselves there's they're they've think third
    thought three throughout told took toward towards tried true try trying turned understand
    unless us used usually various via vol want wanted wasn't we'll we're we've went weren't
    what's whatever whole wide won won't worked working works worth would wouldn't wrong yet
    you'll you're young yourself
    """.split()
)
"""Words that are no term alone and in none of more words."""

GENERAL_WORDS = frozenset(
    """
    ability absolute accept acceptable access accessible account accuracy accurate achieve across
    action actions active activity actual adding addition additional address advance advanced
    advantage advised affect afternoon afterward allowed allowing analysis announced anonymous
    answer anywhere apparent apparently appearing applicable application applied applying approach
    appropriate approximately arbitrary archive area argument arrive arrived article articles
    aspect assess assign assigned assist associated assume assumed assuming attack attempt
    attempting attend attention author authors automatic automatically average avoided background
    basically beginning behalf behave behavior behaviour believed belong biological bottom
    boundary branch breaking bridge briefly bringing building business calculated calculation
    canceled capture careful carefully carried case cases category cause caused causing center
    centered central centre ceremony challenge chance change changed chapter character
    characteristic charge checked choice choose chosen circle circular city claimed clearly
    clicking closed closely cluster colleague collect collected collection column combination
    combined command comment comments communication community company compare compared comparing
    comparison completed completely complex complexity complicated component composed computer
    concept concern concerned concerning conclusion concrete condition confirm confirmed confusion
    conjunction consecutive consequence consideration consist consistent consisting constant
    construct constructed constructing construction contact contained containing context
    continuation continuing continuous contrast contribute contributed contributing contribution
    control controlled convenience convention conversion convert converted cooperation correct
    correction correctly correspondence corresponding counting countries country course covered
    creating criteria critical crucial database date day days decade decades decide decision
    declare declared dedicated default define defined defining definition degree delegation
    demonstrated demonstration denote depend depending derived describe described description
    design designed desirable desired destroyed destruction detail detailed details detected
    detection determination determine determined determining develop developed developing
    development differ difference direct direction directive directly discovered discuss discussed
    discussion display displayed distance distributed distribution divided division document
    documentation dollar domain donation double dozen dropped dynamic easier easily eastern
    edition editor effect effective effectively efficiency efficient effort efforts electronic
    element email employee enable enabled encourage end energy enhanced ensure entered environment
    equality equivalent essential establish established estimate estimated estimation evaluate
    evaluation evening event events eventually evidence evolved examine example examples exceed
    exceeding except exception exceptional excess excluding execute existence existing expand
    expanded expanding expect experience experiment expert explained explanation explicitly
    explore expressed expressing expression extend extended extension extensive extent external
    extract extreme extremely fact factor facts failed failure fairly familiar family famous
    father feature feeling figure filling finding finish finished follow forced form formal
    formally format formed formula fraction framework friend front function functionality future
    generate generated generation generous giving global greater ground group groups growing
    growth half hand heavily helped highest highly historical history home homepage hour hours
    hundred idea identical identified identifier identify identity ignore illegal illustrate image
    images immediate impact implement implementation implemented implementing implied importance
    improve improved improvement increase increasing indeed independent index indicate indicated
    indicating indication individual influence information infrastructure initial inspection
    instance instruction integration intended interact interest interested interesting
    intermediate internal international interpretation interval introduce introduced introduction
    investigate investigation involved involving isolated issue issues item items job journal
    journey killed kind kinds knowledge lack language latter leader leaders leading leaving length
    letter level limitation limited line link linked links list listed listing loaded loading
    location logical looked lot lowest magnitude mainly maintain maintained majority man manner
    mapping marked massive material matter maximum meaning measure measured measuring mechanism
    meeting member members membership memory men mentioned menu merely message method million
    minimal minimum minute minutes missed missing mission modern modification modified moment
    month months morning mostly motivated movement multiple namely narrow natural nature
    necessarily necessary negative network neutral news night normal normally note notes notice
    noticed number numbers numerical numerous object observation observe observer obtain obtained
    obvious occurred occurring official officials omitted ongoing opened opening operate operation
    opinion opportunity option order ordered ordering ordinary organization origin original
    originally output outside overall page pages pair paragraph parameter parent part partial
    participant partner parts passed passing pattern people perfect perform performance performed
    perhap period permitted person personal perspective photo photograph photos physical picture
    piece place placed places planet platform play pleased point points policy population position
    positive possibility possibly powerful practical practice preceding precision preliminary
    prepared presence presentation presented preserve prevent previously primarily primary
    principle printed priority private probable problem problems procedure proceed process produce
    produced producing product production professional profile program progress project promising
    proper properly property proposal propose proposed protection protocol providing public
    publication published purpose purposes quality question questions quickly raised random range
    reader reading reason reasons receive received receiving recognize recognized recommended
    record recorded reduce reduced reduction reference referred reflect reflected reflection
    regard region registered regular relate related relation relationship relative relatively
    release relevant reliable remainder remaining remarkable remove removed repair repeat repeated
    repeatedly replace replaced replacement replacing reply report represent representation
    represented representing request requested require required requirement research researcher
    reserve resolution resource respect respective respectively response responsibility rest
    restriction result resulting results return returned reverse review revised role roughly
    routine run running sample satisfied satisfy scheme science scientist section seeking select
    selected selection sending sense sensitive separate separated separately sequence series
    server service session set setting shared showing side signal significant significantly site
    situation slight slightly slowly smaller social software solution sometime somewhat sort
    source sources specific specifically specification specified specify square stage standard
    starting state stated statement states statistic statistical status step storage stored
    storing story straightforward stream stronger struck structural structure student studying
    subject submitted subsequent subsequently success successful successfully sufficient suggest
    suggested suggestion suitable summarize supply support supported supporting surface
    surrounding survey suspended symbol system target technical technique technology temporarily
    temporary term terms tested testing themselve theory therefore thing things though thousand
    time times title top total traffic transformed translation transmit travel treated treatment
    triangle trouble turn type types typical typically ultimately unavailable underlying
    understanding understood unexpected unique unknown unlikely unusual update updated useful
    validity value variable variety venture verified verify version versus video videos view
    viewed visible volume volunteer warned warning way ways weather website week weeks welcome
    whenever wherea widely window woman women word words work world worldwide writer writing
    written year years
    """.split()
)
"""Words that are no term alone, but may be part of one: prime number, group stage.

Most of them recur in texts of all kinds: in pages on mathematics, weather, sport and history, in
the reference of a programming language, and in novellas.
"""

HONORIFICS = frozenset("mr mrs ms dr sir prof professor president emir sheikh captain".split())
"""What stands before a name without being part of it."""

BUTTONS = frozenset(
    """
    uploads highlights visit menu navigation story stories bookmark bookmarks beta apply cancel
    preferences consent performance advertising personalised personalized manage item's final
    score selected recommended stream favourites previews about account accept add advanced
    advertise all archive archives available back blog blogs browse calendar careers cart close
    comments contact contents copy create credits donate download edit english events explore
    facebook faq favorites feed feedback follow forgot forum free gallery google help hide home
    image images index info instagram join language latest legal library like links linkedin list
    live load loading log login mail main map media mobile more my news newsletter next notes
    online open options our page pages password photo photos pinterest play podcast podcasts
    popular post posts press previous print privacy profile query rate read recent reddit
    references register related reply report reset results review reviews rss save scroll search
    section see send services settings share shop show sign site sitemap skip sort sources
    sponsored start step subscribe suggested summary support tags terms toggle tools top topics
    trending tweet twitter type upload user version video videos view views watch website welcome
    whatsapp what who why widget yes youtube your please thanks details item items updated
    published figure fig table chart chapter part vol volume iss issue abstract introduction
    conclusion appendix overview background general other others note following copyright email
    e-mail cookie cookies pdf html http https www com org net doi isbn issn
    """.split()
)
"""Words of which a web page's buttons and captions are made: a term of nothing else is none."""
