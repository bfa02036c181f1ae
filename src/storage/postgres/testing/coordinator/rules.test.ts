import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brokenRules, offencesOf, reportOf, rules } from './check.ts';
import { shapeOf } from './recorder.ts';
import { cases } from './rule-cases.ts';

describe('what a Citus coordinator cannot plan', () => {
  for (const { name } of rules) {
    const { broken = [], allowed = [] } = cases[name] ?? {};
    test(`${name}: found, and not in the forms that work`, () => {
      assert.ok(broken.length > 0 && allowed.length > 0, 'the rule has cases');
      for (const text of broken)
        assert.deepEqual(
          brokenRules(text).map((rule) => rule.name),
          [name],
          text,
        );
      for (const text of allowed) assert.deepEqual(brokenRules(text), [], text);
    });
  }

  test('statements that differ only in names are reported once, with the rule and the form that works', () => {
    const of = (table: string) => `INSERT INTO "rds_x"."${table}" ("objectId") SELECT "a" FROM "rds_x"."B" FOR UPDATE`;
    const report = reportOf(offencesOf([of('One'), of('Two'), 'SELECT 1']));
    assert.match(
      report,
      /^lock in INSERT … SELECT\n {2}Citus: 0A000 .*\n {2}instead: lock in .*\n {2}> INSERT INTO "rds_x"."n0" \("objectId"\).*$/,
    );
    assert.equal(shapeOf('SELECT "T1"."a", "T2"."a", "_seq"'), 'SELECT "n0"."n1", "n2"."n1", "_seq"');
  });

  test('the schema of the registry is made only after a word about sharding', () => {
    const name = 'registry made while new schemas lie on workers';
    assert.deepEqual(
      offencesOf(['CREATE SCHEMA "rds"']).map(({ rule }) => rule.name),
      [name],
    );
    assert.deepEqual(offencesOf(['CREATE SCHEMA "rds"', 'SET LOCAL citus.enable_schema_based_sharding = off']), []);
    assert.deepEqual(offencesOf(['CREATE SCHEMA "rds_a"']), []);
  });
});
