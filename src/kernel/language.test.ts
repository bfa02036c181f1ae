import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLanguage, type LanguageHints } from './language.ts';

for (const [what, hints, language] of [
  ['nothing tells', {}, 'en'],
  ['neither is wanted', { acceptLanguage: 'fr-FR,de;q=0.5' }, 'en'],
  ['Hebrew is wanted', { acceptLanguage: 'he-IL,he;q=0.9,en-US;q=0.8' }, 'he'],
  ['Hebrew is wanted more', { acceptLanguage: 'en;q=0.5, he;q=0.7' }, 'he'],
  ['Hebrew is not wanted', { acceptLanguage: 'he;q=0, en;q=0.1' }, 'en'],
  ['Hebrew by its name of before', { acceptLanguage: 'iw' }, 'he'],
  ['the request says so', { locales: 'fr he', acceptLanguage: 'en' }, 'he'],
  ['the page before was', { before: 'en', locales: 'he' }, 'en'],
  ['the switch was used', { requested: 'he', before: 'en', locales: 'en', acceptLanguage: 'en' }, 'he'],
  ['the switch holds something else', { requested: '"><script>', acceptLanguage: 'he' }, 'he'],
] satisfies [string, LanguageHints, string][])
  test(`${language} where ${what}`, () => assert.equal(chooseLanguage(hints), language));
