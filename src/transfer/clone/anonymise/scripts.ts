/** How words of one script are invented. */
export interface Script {
  /** Its letters, for words that keep their length. */
  readonly letters: readonly string[];
  /** Beginnings, middles and ends of syllables, for names. */
  readonly onsets: readonly string[];
  readonly vowels: readonly string[];
  readonly codas: readonly string[];
  /** Number of syllables of a name: together more than 2^40 names, so that two of a million hardly ever become one. */
  readonly syllables: number;
}

const list = (text: string): readonly string[] => text.split(' ');
/** Codas with some that are empty, which make names shorter. */
const codas = (text: string, empty: number): readonly string[] => [...list(text), ...Array.from({ length: empty }, () => '')];

const latin: Script = {
  letters: [...'abcdefghijklmnopqrstuvwxyz'],
  onsets: list('b br ch d dr f g gr h k kl l m n p r s sh st t tr v y z'),
  vowels: list('a e i o u ai ea ei io ou'),
  codas: codas('b d f g k l m n nd p r rt s sh st t', 5),
  syllables: 4,
};

const hebrew: Script = {
  letters: [...'אבגדהוזחטיכלמנסעפצקרשת'],
  onsets: [...'אבגדהזחטכלמנסעפצקרשת'],
  vowels: ['ו', 'י', '', '', ''],
  codas: codas('ב ג ד ז ל מ נ ס ק ר ש ת', 2),
  syllables: 5,
};

const arabic: Script = {
  letters: [...'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'],
  onsets: [...'بتجحخدرزسشصطعغفقكلمنه'],
  vowels: ['ا', 'و', 'ي', '', ''],
  codas: codas('ب د ر س ل م ن ق ف ت', 2),
  syllables: 5,
};

const cyrillic: Script = {
  letters: [...'абвгдежзиклмнопрстуфхцчшэюя'],
  onsets: list('б в г гр д др ж з к кр л м н п пр р с ст т тр ф х ч ш'),
  vowels: [...'аеиоуыюя'],
  codas: codas('в д к л м н р с т й', 3),
  syllables: 4,
};

const scripts: readonly (readonly [test: RegExp, script: Script])[] = [
  [/\p{Script=Hebrew}/u, hebrew],
  [/\p{Script=Arabic}/u, arabic],
  [/\p{Script=Cyrillic}/u, cyrillic],
];

/** Returns the script of a word or letter; Latin for all others. */
export const scriptOf = (word: string): Script => scripts.find(([test]) => test.test(word))?.[1] ?? latin;

/** The script of e-mail addresses. */
export const latinScript = latin;

const finals = new Map([
  ['כ', 'ך'],
  ['מ', 'ם'],
  ['נ', 'ן'],
  ['פ', 'ף'],
  ['צ', 'ץ'],
]);

/** Returns a Hebrew word with its final letter in final form; other words as they are. */
export const withFinal = (word: string): string => word.slice(0, -1) + (finals.get(word.slice(-1)) ?? word.slice(-1));
