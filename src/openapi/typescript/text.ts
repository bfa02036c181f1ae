import { escapeJson } from '../../kernel/json.ts';

/** Control characters, line ends of JavaScript, and the characters that change the direction of a text and hide what follows. */
const hiding = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/** Returns text from outside for a comment: one line that cannot end the comment, and that no tool takes for a tag. */
export function commentText(text: string): string {
  return text
    .replace(hiding, ' ')
    .replaceAll('*/', '*\\/')
    .replace(/(^|\s)@/g, '$1\\@')
    .toWellFormed()
    .trim();
}

/** Returns a string literal. */
export function literal(text: string): string {
  const quoted = escapeJson(text.toWellFormed()).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${quoted.replace(hiding, (found) => [...found].map(escaped).join(''))}'`;
}

/** Returns a part of a template literal type. */
export const templateText = (text: string): string =>
  literal(text).slice(1, -1).replaceAll("\\'", "'").replaceAll('`', '\\`').replaceAll('${', '\\${');

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Returns a property name, quoted if it is no identifier. Reserved words need no quotes. */
export const propertyName = (name: string): string => (identifier.test(name) ? name : literal(name));

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
