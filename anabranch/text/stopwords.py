"""Words too common to search by; own lists, because BM25Okapi gives even these a weight above zero.

Only words that carry grammar: articles, prepositions, conjunctions, pronouns, auxiliaries. A word that can also be a
name or a thing stays searchable ("will" apart, which English cannot spare).
"""

from __future__ import annotations

_LISTS = {
    "english": """
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing don down during each few for from further had has have having he her here hers herself him himself his how i
if in into is it its itself just me more most my myself no nor not now of off on once only or other our ours ourselves
out over own same she should so some such than that the their theirs them themselves then there these they this those
through to too under until up very was we were what when where which while who whom why will with would you your yours
yourself yourselves im ive id youre youve hes shes weve theyre theyve isnt arent wasnt werent hasnt havent hadnt doesnt
dont didnt wont wouldnt cant cannot couldnt shouldnt thats whos whats lets theres
""",
    "german": """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei bin bis
bist da damit dann das dass dasselbe dazu dein deine deinem deinen deiner deines dem den denn der des desselben dessen
deren dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines
einige einigem einigen einiger einiges er es etwas euch euer eure eurem euren eurer eures für gegen habe haben hat
hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem
jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines können könnte man
manche manchem manchen mancher manches mein meine meinem meinen meiner meines mich mir mit muss musste nach nicht
nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seines selbst sich sie sind so solche solchem
solchen solcher solches soll sollte sondern sonst über um und uns unser unsere unserem unseren unserer unseres unter
vom von vor wann war waren warum warst was weg weil welche welchem welchen welcher welches wenn wer wem wen werde
werden wessen wie wieder will wir wird wirst wo wollen wollte wurde wurden würde würden zu zum zur zwar zwischen
""",
    "french": """
a ai aient ait alors as au aucun aucune aura aurait aussi autre autres aux avaient avait avant avec avez avoir avons
ayant c ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment d dans de des depuis donc dont
du elle elles en encore entre es est et étaient était étant été êtes être eu eux fut furent ici il ils j je jusqu l la
là laquelle le lequel les lesquelles lesquels leur leurs lorsqu lorsque lui m ma mais me même mêmes mes moi mon n ne
ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus pour pourquoi puis puisqu puisque qu
quand que quel quelle quelles quels qui quoi s sa sans se sera serait seront ses si soi soient sois soit sommes son
sont sous suis sur t ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y
""",
    "spanish": """
a al algo algunas algunos ante antes aquel aquella aquellas aquello aquellos así aún aunque cada como cómo con contra
cual cuál cuales cuáles cuando cuándo de del desde donde dónde dos durante e él el ella ellas ellos en entre era eran
eres es esa esas ese eso esos está ésta estaba estaban están estas este esto estos fue fueron ha había habían han
hasta hay he la las le les lo los más me mi mí mis mucho muchos muy nada ni no nos nosotros nuestra nuestras nuestro
nuestros o otra otras otro otros para pero poco por porque puede pueden pues que qué quien quién quienes se sea sean
según ser será si sí sido sin sobre son su sus también tan tanto te ti tiene tienen toda todas todo todos tu tú tus un
una unas uno unos vosotros vuestra vuestras vuestro vuestros y ya yo
""",
    "italian": """
a abbia abbiamo ad agli ai al alcune alcuni all alla alle allo anche ancora avere aveva avevano c che chi ci coi col
come con contro cosa cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello di dopo dove
due e è ed era erano essere essi fa fra fu furono gli ha hai hanno ho i il in io l la le lei li lo loro lui m ma me mi
mia mie miei mio ne negli nei nel nell nella nelle nello noi non nostra nostre nostri nostro o ogni perché più poi può
qual quale quali quando quanto quella quelle quelli quello quest questa queste questi questo qui s sarà se sei senza
si sia siamo siano siete sono sta stata stati stato su sua sue sugli sui sul sull sulla sulle sullo suo suoi t tra tu
tua tue tuo tuoi tutta tutte tutti tutto un una uno v vi voi vostra vostre vostri vostro
""",
    "portuguese": """
a à ao aos aquela aquelas aquele aqueles aquilo as às até cada com como da das de dela delas dele deles depois do dos
e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas estava estavam este estes eu foi
foram há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nossas
nosso nossos num numa o os ou para pela pelas pelo pelos pode podem por porque qual quais quando que quem são se seja
sejam sem ser será seu seus só sobre sua suas também te tem têm tinha tinham tu tua tuas teu teus um uma umas uns você
vocês vos
""",
    "dutch": """
aan al alle alles als altijd andere ben bent bij daar dan dat de deze die dit doch doen door dus een en er ge geen
haar had hadden heb hebben heeft hem het hier hij hoe hun iets ik in is ja je jij jou jouw kan kon konden kunnen maar
me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen
toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel welke werd werden wie wij wil
worden wordt zal ze zelf zich zij zijn zo zonder zou zouden
""",
    "swedish": """
alla allt att av blev bli blir då dag de deg dem den denna deras dess dessa det detta dig din dina ditt du efter ej
eller en er era ert ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan
kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin
sina sitt ska skulle som så sådan sådana till under upp ut utan vad var vara varför varit varje vars vart vem vi vid
vilka vilken vilket vår våra vårt än är åt över
""",
    "danish": """
ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en
end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvem hver hvilken hvis hvor hvordan
hvorfor hvornår i ikke ind ingen jeg jer jo kan kunne man mange med meget men mig min mine mit mod når ned noget nogle
nogen nu og også om op os over på selv sig sin sine sit skal skulle som sådan thi til ud under var været ville vi vil
vor være
""",
    "norwegian": """
alle at av bare begge ble bli blir blitt da de deg dem den denne der dere deres det dette di din disse ditt du dykk eg
ein eit eller en enn er et etter for fordi fra få før ha hadde han hans har hennes her hun hva hvem hver hvilken
hvilke hvis hvor hvordan hvorfor i ikke ikkje ingen inn ja jeg kan kom kun kunne man mange med meg mellom men mer mi
min mitt mot mye nå når ned noe noen og også om opp oss over på samme seg selv si siden sin sine sitt skal skulle slik
som så sånn til um under ut uten var vart ved vi vil ville vår være vært å
""",
    "finnish": """
ei eivät emme en et ette että hän häneen hänelle hänellä häneltä hänen hänessä hänestä hänet häntä he heidän heille
heillä heitä hyvin ilman itse ja jo joiden joihin joilla joille joissa joista joita joka jonka joihin jos jossa josta
jota jotka kanssa kaikki keitä kenen ketkä kuin kuinka kuka kun me meidän meille meitä mihin mikä miksi mille millä
milloin minkä minä minun missä mistä mitä mitkä mutta myös ne niiden niihin niille niillä niin niissä niistä niitä
noiden nuo nyt näiden näissä nämä olen olet olemme olette oli olin olisi olivat olla olleet ollut on ovat se sekä sen
siihen sille sillä siinä siitä sinun sinä sitä tai taas te teidän tuo tähän tällä tämä tämän tässä tästä tätä vaan
vain vai voi voivat
""",
    "turkish": """
acaba ama ancak aynı bana bazı belki ben beni benim bile bir biri biz bize bizi bizim bu buna bunda bundan bunlar bunu
bunun çok çünkü da daha de defa diye en gibi hem hep hepsi her hiç için ile ise kez ki kim mi mı mu mü nasıl ne neden
nerede nereye niçin niye o olan olarak oldu olduğu olur ona ondan onlar onu onun sanki şey siz size sizi sizin şu tüm
var ve veya ya yani yok
""",
    "russian": """
а без более бы был была были было быть в вам вас весь во вот все всего всех всё вы где да даже для до его ее её если
есть еще ещё же за здесь и из или им их к как какая какие какой когда кто куда ли либо меня мне может мы на над нам
нас наш наша не него нее неё нет ни них но ну о об однако он она они оно от перед по под после потом потому почему при
про с сам своего своей своих себя со так также такой там тебя тем то тогда того тоже той только том тот ты у уже хотя
чего чей чем что чтобы чья эта эти это этого этой этом этот я
""",
    "arabic": """
في من إلى الى على عن مع هذا هذه ذلك تلك هؤلاء أولئك هو هي هم هن أنا أنت نحن أنتم كان كانت كانوا يكون تكون ليس ليست ما
ماذا متى أين كيف لماذا هل من الذي التي الذين اللذين اللاتي أن إن ان انه أنه إنه أنها إنها لا لم لن قد لقد و أو او ثم
بل لكن ولكن حتى إذا اذا إذ كل بعض غير بعد قبل عند عندما بين حول خلال منذ به بها له لها لهم فيه فيها منه منها عليه
عليها إليه إليها وهو وهي ومن وفي وعلى وما ولا كما أي اي أيضا
""",
    "greek": """
ο η το οι τα του της των τον την και κι ή να θα δε δεν μη μην με σε στο στη στην στον στους στις στα από για προς κατά
μετά παρά αντί χωρίς ως πως που πού ποιος ποια ποιο ποιοι τι πότε πώς γιατί αν όταν ενώ αλλά όμως ότι είναι ήταν έχει
έχουν είχε αυτός αυτή αυτό αυτοί αυτές αυτά αυτού αυτής αυτών εκείνος εκείνη εκείνο ένας μια μία ένα ενός μιας μου σου
μας σας τους τις
""",
    "hindi": """
का की के को में है हैं था थी थे और या से पर ने यह ये वह वे इस उस इन उन इसका इसकी इसके उसका उसकी उसके उनका उनकी उनके जो
जिस जिन कि क्या कौन कब कहाँ कहां कैसे क्यों कोई कुछ किसी तो ही भी तक एक हो होता होती होते हुआ हुई हुए कर करना करता
करते करने किया गया गई गए साथ लिए द्वारा अपना अपनी अपने मैं हम तुम आप मेरा हमारा जब तब लेकिन नहीं न
""",
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.casefold().split()) for language, words in _LISTS.items()
}
"""By language, folded and without apostrophes, as `anabranch.text.analyzer` sees them; none for the others."""
