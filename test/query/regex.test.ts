/** $regex and $options, with the PCRE habits of clients, and hostile patterns. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  assertError,
  badCases,
  createEach,
  defineTable,
  findNames,
  onEachEngine,
  tableName,
  whereCases,
} from '../support/query.ts';

const limitMs = 2000;

onEachEngine(
  (get) => {
    const table = tableName('Regex');
    before(async () => {
      await defineTable(get(), table, { k: 'String', s: 'String', n: 'Number' });
      await createEach(get(), table, [
        { k: 'a', s: 'Apple pie', n: 12 },
        { k: 'b', s: 'a.b' },
        { k: 'c', s: 'axb' },
        { k: 'd', s: 'first\nsecond' },
        { k: 'e' },
        { k: 'f', s: 'שלום עולם' },
        { k: 'g', s: '😀' },
        { k: 'h', s: 'École' },
        { k: 'i', s: 'noon 2024-06-01' },
        { k: 'j', s: '' },
        { k: 'l', s: 'back\\slash "quoted" \'single\' 100% under_score' },
      ]);
    });
    whereCases(get, 'Records/Query $regex', table, [
      ['a pattern matches anywhere', { s: { $regex: 'pp' } }, 'a'],
      ['anchors', { s: { $regex: '^a.b$' } }, 'b c'],
      ['case-sensitive without options', { s: { $regex: '^apple' } }, ''],
      ['the empty pattern matches every String', { s: { $regex: '' } }, 'a b c d f g h i j l'],
      ['startsWith as clients send it: ^\\Q..\\E', { s: { $regex: '^\\Qa.b\\E' } }, 'b'],
      ['endsWith as clients send it: \\Q..\\E$', { s: { $regex: '\\Q.b\\E$' } }, 'b'],
      ['contains as clients send it: \\Q..\\E', { s: { $regex: '\\Q.\\E' } }, 'b'],
      ['several quoted parts', { s: { $regex: '^\\Qa\\E.\\Qb\\E$' } }, 'b c'],
      ['\\Q without \\E quotes to the end', { s: { $regex: '^\\Qa.b' } }, 'b'],
      ['quoted backslashes and quotes are bound', { s: { $regex: '\\Qk\\s\\E' } }, 'l'],
      ['% and _ are no wildcards', { s: { $regex: '100%.*r_s' } }, 'l'],
      ['option i', { s: { $regex: '^apple', $options: 'i' } }, 'a'],
      ['option i beyond ASCII', { s: { $regex: '^école$', $options: 'i' } }, 'h'],
      ['option i with a quoted part', { s: { $regex: '\\QA.B\\E', $options: 'i' } }, 'b'],
      ['without m, ^ is the start of the value only', { s: { $regex: '^second' } }, ''],
      ['option m: ^ at each line', { s: { $regex: '^second', $options: 'm' } }, 'd'],
      ['without s, the dot stops at a line end', { s: { $regex: 'first.second' } }, ''],
      ['option s: the dot matches line ends', { s: { $regex: 'first.second', $options: 's' } }, 'd'],
      ['option x: white space in the pattern is passed over', { s: { $regex: '^ a \\. b $', $options: 'x' } }, 'b'],
      ['option x: comments in the pattern', { s: { $regex: '^a # starts so\n [x] b$', $options: 'x' } }, 'c'],
      ['several options', { s: { $regex: '^SECOND', $options: 'im' } }, 'd'],
      ['inline flags', { s: { $regex: '(?i)^APPLE' } }, 'a'],
      ['classes \\d \\w \\s', { s: { $regex: '^\\w+\\s\\d{4}-\\d\\d-\\d\\d$' } }, 'i'],
      ['word boundary', { s: { $regex: '\\bpie\\b' } }, 'a'],
      ['POSIX classes', { s: { $regex: '^[[:alpha:]]+ [[:alpha:]]+$' } }, 'a'],
      ['Hebrew', { s: { $regex: '^שלום' } }, 'f'],
      ['the dot is a whole character, not half an emoji', { s: { $regex: '^.$' } }, 'g'],
      ['alternatives', { s: { $regex: '^(a\\.b|axb)$' } }, 'b c'],
      ['lookahead', { s: { $regex: '^(?!a)[a-z]+ ' } }, 'i'],
      ['lookbehind', { s: { $regex: '(?<=Apple )pie' } }, 'a'],
      ['backreference', { s: { $regex: '^.(o)\\1n' } }, 'i'],
      ['with another operator', { s: { $regex: '^a', $ne: 'axb' } }, 'b'],
      ['on a Number field nothing matches', { n: { $regex: '1' } }, ''],
      ['on an unknown field nothing matches', { none: { $regex: '.*' } }, ''],
    ]);
    badCases(get, 'Records/Query $regex', table, [
      ['bad pattern: an open group', { where: { s: { $regex: '(' } } }, 102],
      ['bad pattern: an open class', { where: { s: { $regex: '[a' } } }, 102],
      ['bad pattern: nothing to repeat', { where: { s: { $regex: '*a' } } }, 102],
      ['bad pattern: a range out of order', { where: { s: { $regex: '[z-a]' } } }, 102],
      ['bad pattern on an empty result is reported too', { where: { s: { $regex: '(', $eq: 'nothing' } } }, 102],
      ['bad options', { where: { s: { $regex: 'a', $options: 'g' } } }, 102, /Bad \$options value for query/],
      ['bad options among good ones', { where: { s: { $regex: 'a', $options: 'iq' } } }, 102, /Bad \$options/],
    ]);

    const query = (where: unknown) => get().call('GET', `/platform/classes/${table}`, { query: { where } });
    test('Records/Query $regex: a pattern of large counted repeats is 102 and stalls nobody', async () => {
      const started = performance.now();
      assertError(await query({ s: { $regex: '[a-z]{1000}'.repeat(900) } }), 400, 102, /^Invalid regular expression/);
      assert.ok(performance.now() - started < 500);
    });
    test('Records/Query $regex: a pattern that is no string is a 400', async () => {
      assert.equal((await query({ s: { $regex: 5 } })).status, 400);
    });

    test('Records/Query $regex: (a+)+$ against a long value answers quickly', async () => {
      const victim = tableName('Victim');
      await createEach(get(), victim, [
        { k: 'x', s: `${'a'.repeat(50_000)}!` },
        { k: 'y', s: 'aaaa' },
      ]);
      const started = performance.now();
      const where = { s: { $regex: '^(a+)+$' } };
      assert.deepEqual(await findNames(get(), victim, { where }), ['y']);
      assert.ok(performance.now() - started < limitMs, `took ${performance.now() - started} ms`);
    });

    test('Records/Query $regex: a backtracking pattern meets the time limit (503 code 124) and stalls nobody else', async () => {
      const victim = tableName('Victim');
      await createEach(get(), victim, [{ k: 'x', s: `${'a'.repeat(61)}!` }]);
      // Back references, and an odd number of letters.
      const where = { s: { $regex: `^${'(a+)'.repeat(8)}${'12345678'.replace(/./g, '\\$&')}!$` } };
      const slow = get().call('GET', `/platform/classes/${victim}`, { query: { where } });
      let longest = 0;
      for (let round = 0; round < 10; round++) {
        const started = performance.now();
        assert.deepEqual((await findNames(get(), table, { where: { k: 'a' } })).length, 1);
        longest = Math.max(longest, performance.now() - started);
      }
      const answer = await slow;
      assert.equal(answer.status, 503, answer.text);
      assert.equal(answer.body.code, 124);
      assert.ok(longest < limitMs / 2, `another request waited ${longest} ms`);
      assert.deepEqual(await findNames(get(), table, { where: { s: { $regex: '^(?!a)noon' } } }), ['i']);
    });

    for (const pattern of ['((a{1,100}){1,100}){1,100}', '(x+x+)+y', `${'('.repeat(5000)}a${')'.repeat(5000)}`, 'a{99999}'])
      test(`Records/Query $regex: a costly pattern is refused or answered, never a fault: ${pattern.slice(0, 30)}`, async () => {
        const started = performance.now();
        const answer = await query({ s: { $regex: pattern } });
        assert.ok([200, 400, 503].includes(answer.status), `${answer.status} ${answer.text}`);
        assert.ok(performance.now() - started < limitMs * 2);
        assert.equal((await findNames(get(), table, { where: { k: 'a' } })).length, 1);
      });
  },
  { QUERY_TIMEOUT_MS: String(limitMs) },
);
