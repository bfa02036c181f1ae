import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { digitsOf, phoneKey } from '../../../kernel/phone-key.ts';
import type { FieldType } from '../../../schema/model.ts';
import { DigitCipher } from './digit-cipher.ts';
import { KeyedHash } from './keyed-hash.ts';
import { Anonymiser, type Kind } from './kinds.ts';
import { anonymousMarkup } from './markup.ts';

const anonymiser = new Anonymiser();
const changed = (kind: Kind, value: string | number, type: FieldType = typeof value === 'number' ? 'Number' : 'String') =>
  anonymiser.changeFor(kind, { type })(value) as string;

const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCXYZאבגדהלמןםשתдамиابت');
const word = fc.string({ unit: letter, minLength: 1, maxLength: 12 });
const gap = fc.constantFrom(' ', '  ', '-', ', ', "'", '. ');
const phrase = fc.array(fc.tuple(word, gap), { minLength: 1, maxLength: 4 }).map((pairs) => pairs.flat().slice(0, -1).join(''));
const address = fc.tuple(word, fc.nat(999), word).map(([local, n, host]) => `${local}${n}@${host}.co.il`);
const number = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 });
const samples: Record<Exclude<Kind, 'remove' | 'date'>, fc.Arbitrary<string>> = {
  name: phrase,
  phone: fc.tuple(fc.constantFrom('', '0', '+972', '00972-', '972 0'), number).map(([start, rest]) => start + rest),
  email: address,
  digits: number,
  text: phrase,
};

test('the same value becomes the same value, and in another clone another one', () => {
  const other = new Anonymiser();
  for (const [kind, arbitrary] of Object.entries(samples) as [keyof typeof samples, fc.Arbitrary<string>][])
    fc.assert(
      fc.property(arbitrary, (value) => {
        assert.equal(changed(kind, value), changed(kind, value));
        const long = /\d{6,}|\p{L}{4,}/u.test(value.replace(/^\D*(?:972)?[\D0]*\d{2}/, ''));
        if (long && kind !== 'text') assert.notEqual(changed(kind, value), other.changeFor(kind, { type: 'String' })(value));
      }),
    );
});

test('hashes are HMAC-SHA-256, of texts of any length', () => {
  const key = Buffer.alloc(32, 'key');
  const own = new KeyedHash(key);
  for (const text of ['', 'שלום', 'long '.repeat(1_000), 'short'])
    assert.deepEqual(own.of('p', text), createHmac('sha256', key).update(`p\0${text}`).digest());
});

test('digits are permuted one to one, for every length and tweak', () => {
  const cipher = new DigitCipher(new KeyedHash());
  for (const length of [1, 2, 3]) {
    const all = Array.from({ length: 10 ** length }, (_, n) => String(n).padStart(length, '0'));
    for (const tweak of ['', '50'])
      assert.equal(new Set(all.map((digits) => cipher.encrypt(digits, tweak))).size, all.length, `${length}`);
    const numbers = all.filter((digits) => !digits.startsWith('0'));
    const encrypted = numbers.map((digits) => cipher.encryptNumber(digits, ''));
    assert.deepEqual(new Set(encrypted), new Set(numbers));
  }
  for (const length of [7, 9, 11, 13, 15, 16, 31, 40]) {
    const all = Array.from({ length: 300 }, (_, n) => String(n * 7).padStart(length, length % 2 === 0 ? '0' : '9'));
    const encrypted = all.map((digits) => cipher.encrypt(digits, ''));
    assert.equal(new Set(encrypted).size, all.length);
    assert.ok(encrypted.every((digits) => digits.length === length && /^\d+$/.test(digits)));
    assert.ok(all.filter((digits, at) => digits === encrypted[at]).length < 3);
  }
});

for (const [form, value] of [
  ['a mobile number', '050-123-4567'],
  ['an international one', '+972 50-123 4567'],
  ['one of spreadsheets', '501234567'],
  ['a landline', '(03) 6123456'],
  ['a foreign one', '+1 (212) 555-0123'],
  ['one that begins like the country', '97-2123456'],
] as const)
  test(`phone: ${form} keeps its length and separators, its start and its kind`, () => {
    for (let n = 0; n < 200; n++) {
      const sent = value.replace(/\d(?=\D*$)/, String(n % 10)).replace(/\d(?=\d\D*$)/, String(Math.floor(n / 10) % 10));
      const result = changed('phone', sent);
      assert.equal(result.length, sent.length);
      assert.equal(result.replace(/\d/g, '0'), sent.replace(/\d/g, '0'));
      assert.equal(phoneKey(result)?.length, phoneKey(sent)?.length);
      assert.equal(digitsOf(result).startsWith('972'), digitsOf(sent).startsWith('972'));
      assert.equal(digitsOf(result)[0], digitsOf(sent)[0]);
    }
  });

test('phone: every notation of a number becomes a notation of one other number', () => {
  const notations = ['0501234567', '050-123-4567', '+972501234567', '972-50-1234567', ' 050 1234567 ', '972501234567'];
  const keys = notations.map((text) => phoneKey(changed('phone', text)));
  assert.equal(new Set(keys).size, 1);
  assert.match(String(keys[0]), /^050\d{7}$/);
  assert.equal(phoneKey(String(changed('phone', 501234567))), String(keys[0]).slice(1));
});

test('phone, digits: digits of other scripts are replaced, too, as the same number in ASCII, and stay in their script', () => {
  const ascii = '050-1234567';
  for (const kind of ['phone', 'digits'] as const)
    for (const zero of [0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce, 0x1d7d8]) {
      const written = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
      assert.equal(changed(kind, written(ascii)), written(changed(kind, ascii)), zero.toString(16));
      assert.notEqual(changed(kind, written(ascii)), written(ascii));
    }
});

test('digits: no single digit but 0 stays', () => {
  for (let clone = 0; clone < 50; clone++) {
    const anonymous = new Anonymiser().changeFor('digits', { type: 'String' });
    for (const digit of '123456789') assert.notEqual(anonymous(digit), digit);
  }
});

test('digits: leading zeros, separators and length stay; equal digits stay equal', () => {
  for (const value of ['51-234567-8', '012345678', '0', '', 'none', '000', '7', '1234567890123456789012'])
    for (const result of [changed('digits', value)]) {
      assert.equal(result.replace(/\d/g, '#'), value.replace(/\d/g, '#'));
      assert.equal(/^0*/.exec(digitsOf(result))?.[0], /^0*/.exec(digitsOf(value))?.[0]);
    }
  assert.equal(digitsOf(changed('digits', '51-234567-8')), changed('digits', '512345678'));
  const numbers = [512345678, -12, 1234.5, 0, 9007199254740991, 1e300];
  for (const value of numbers) {
    const result = Number(changed('digits', value));
    assert.ok(Number.isFinite(result));
    assert.equal(Math.sign(result), Math.sign(value));
    if (Number.isInteger(value) && value < 1e15) assert.equal(String(result).length, String(value).length);
  }
});

test('name: each word becomes a word of its script and case wherever it stands', () => {
  const [dana, levi] = ['דנה', 'Levi'].map((text) => changed('name', text));
  assert.match(String(dana), /^\p{Script=Hebrew}{5,}$/u);
  assert.match(String(levi), /^[A-Z][a-z]{4,}$/);
  assert.equal(changed('name', 'דנה Levi'), `${dana} ${levi}`);
  assert.equal(changed('name', '  דנה-levi, LEVI '), `  ${dana}-${levi?.toLowerCase()}, ${levi?.toUpperCase()} `);
  assert.match(changed('name', 'Иванов'), /^\p{Script=Cyrillic}+$/u);
  assert.match(changed('name', 'محمد'), /^\p{Script=Arabic}+$/u);
  const mixed = ['lEVI', 'LeVi', 'leVI', 'Levi', 'levi', 'LEVI'].map((text) => changed('name', text));
  assert.equal(new Set(mixed).size, mixed.length);
  assert.equal(new Set(mixed.map((text) => text.toLowerCase())).size, 1);
});

test('name: fifty thousand words stay different', () => {
  for (const letters of ['a', 'א']) {
    const names = new Set(Array.from({ length: 50_000 }, (_, n) => changed('name', letters.repeat((n % 7) + 1) + wordOf(n))));
    assert.equal(names.size, 50_000);
  }
});

test('name, text: numbers in them stay different', () => {
  for (const kind of ['name', 'text'] as const) {
    const all = Array.from({ length: 2_000 }, (_, n) => (n < 1_000 ? `Code ${n}` : `Code ${String(n - 1_000).padStart(4, '0')}`));
    assert.equal(new Set(all.map((text) => changed(kind, text))).size, all.length);
  }
});

const wordOf = (n: number) => [...String(n)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('');

test('email: addresses become other addresses, the same ones regardless of case, within a text too', () => {
  const result = changed('email', 'Dana.Levi@Firm.co.il');
  assert.match(result, /^[a-zA-Z]+\.[a-zA-Z]+@example\.com$/);
  assert.ok(result.length <= 80);
  const lower = changed('email', 'dana.levi@firm.co.il');
  assert.equal(result.toLowerCase(), lower);
  assert.notEqual(result, lower, 'where case matters they stay different');
  assert.equal(changed('email', ' dana.levi@firm.co.il'), ` ${lower}`);
  const list = changed('email', '"Dana" <dana.levi@firm.co.il>; other@firm.co.il');
  assert.ok(list.includes(`<${lower}>; `) && !/dana|firm|other/i.test(list), list);
  assert.notEqual(changed('email', 'admin'), 'admin');
  assert.match(changed('email', 'a@b@c.co'), /^[a-z.]+@example\.com$/);
  assert.equal(changed('email', '@'), '@');
  // Would take hours if the work were not linear.
  for (const piece of ['a', 'a.', '@', 'a@']) assert.ok(changed('email', piece.repeat(500_000)).length > 0);
});

test('text: words keep their length, script and case, and no word stays', () => {
  fc.assert(
    fc.property(phrase, (text) => {
      const result = changed('text', text);
      assert.equal(result.length, text.length);
      assert.equal(result.replace(/\p{L}/gu, 'x'), text.replace(/\p{L}/gu, 'x'));
      for (const [at, character] of [...text].entries())
        if (/\p{L}/u.test(character)) assert.notEqual([...result][at]?.toLowerCase(), character.toLowerCase());
    }),
  );
  assert.match(changed('text', 'Meet at 10, gate 7'), /^[A-Z][a-z]{3} [a-z]{2} [1-9]\d, [a-z]{4} [1-9]$/);
});

test('text of markup keeps its elements, without attributes, comments and what they hold', () => {
  const html = '<p class="Dana" onclick="x">Hello <b>Dana</b>&nbsp;&#1491;<br/><!-- Dana --><img src="https://x/Dana"> a < b</p>';
  const result = changed('text', html, 'HTML/XML');
  assert.match(result, /^<p>[A-Z][a-z]{4} <b>[A-Z][a-z]{3}<\/b>&nbsp;<br\/><img> [a-z] < [a-z]<\/p>$/);
  // Would take minutes if the work were not linear.
  for (const piece of ['<', '<!--', '&#']) assert.ok(anonymousMarkup((text) => text, piece.repeat(300_000)).length > 0);
});

test('text of markup: what is no element of HTML is text, so that no name or address stays in angle brackets', () => {
  const text =
    'From: <dana.levi@firm.co.il>, <Dana Levi>, <דנה לוי>, <dana/>, </dana>, <br.dana>, <b-dana> <p>Dana<P CLASS="dana">';
  const result = changed('text', text, 'HTML/XML');
  assert.ok(!/dana|levi|firm|דנה|לוי/i.test(result), result);
  assert.equal(result.replace(/\p{L}/gu, 'x').length, '<p>Dana<P>'.length + text.indexOf('<p>'));
  assert.match(result, /<p>[A-Z][a-z]{3}<P>$/);
  assert.match(changed('text', '<Visit at="Dana"><Dana/></Visit>', 'HTML/XML'), /^<(\w{5}) \w\w="\w{4}"><\w{4}\/><\/\1>$/);
});

test('date: moved by up to 180 whole days, times of a day together', () => {
  const day = 86_400_000;
  for (const iso of [
    '2024-05-06T07:08:09.010Z',
    '1990-01-01T00:00:00.000Z',
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
  ]) {
    const value = Date.parse(iso);
    const moved = Number(changed('date', value, 'Date')) - value;
    assert.ok(moved % day === 0 && moved !== 0 && Math.abs(moved) <= 180 * day, `${moved / day}`);
    assert.equal(new Date(value + moved).toISOString().length, iso.length);
  }
  const [start, end] = ['2024-05-06T08:00:00.000Z', '2024-05-06T09:30:00.000Z'].map((iso) =>
    Number(changed('date', Date.parse(iso), 'Date')),
  );
  assert.equal(Number(end) - Number(start), 5_400_000);
});

test('Arrays and Objects: texts at any depth, but no Pointers, Dates, Files and keys', () => {
  const pointer = { __type: 'Pointer', className: 'Accounts', objectId: 'dana' };
  const value = { to: ['a@b.co', { cc: 'x@y.co', n: 1, ok: true }], pointer, dana: null };
  const result = JSON.parse(changed('email', JSON.stringify(value), 'Object'));
  assert.deepEqual(result.pointer, pointer);
  assert.equal(result.to[0], changed('email', 'a@b.co'));
  assert.equal(result.to[1].cc, changed('email', 'x@y.co'));
  assert.deepEqual([result.to[1].n, result.to[1].ok, result.dana], [1, true, null]);
  assert.deepEqual(JSON.parse(changed('phone', '["050-1234567"]', 'Array')), [changed('phone', '050-1234567')]);
});

test('Arrays and Objects: whole records in them, and values of other types, keep no text', () => {
  const file = { __type: 'File', name: 'a1b2_dana.pdf', url: 'http://x/a1b2_dana.pdf' };
  const date = { __type: 'Date', iso: '2024-05-06T07:08:09.010Z' };
  const record = { __type: 'Object', className: 'Accounts', objectId: 'abcdefghij', Name: 'Dana Levi', file, date };
  const value = {
    record,
    pointer: { ...record, __type: 'Pointer' },
    other: { __type: 'Dana', note: 'Dana', n: { __type: 5, note: 'Dana' } },
  };
  const result = JSON.parse(changed('name', JSON.stringify(value), 'Object'));
  const name = changed('name', 'Dana Levi');
  assert.deepEqual(result.record, { ...record, Name: name });
  assert.deepEqual(result.pointer, { ...value.pointer, Name: name });
  assert.ok(!/dana/i.test(JSON.stringify(result.other)), JSON.stringify(result.other));
});
