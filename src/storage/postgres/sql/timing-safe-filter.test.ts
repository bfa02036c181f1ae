import { after } from 'node:test';
import { testGuards } from '../../sql/testing/timing-safe-cases.ts';
import { PostgresTables } from '../testing/tables.ts';
import { postgresAggregate } from './aggregate.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
// An operator of the same name that reports its operands; its declared cost is minimal, so that the planner would evaluate it first.
for (const text of [
  'CREATE SCHEMA spy',
  "CREATE FUNCTION spy.matches(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS 'BEGIN RAISE NOTICE ''text %'', $1; RETURN true; END'",
  'CREATE OPERATOR spy.~ (LEFTARG = text, RIGHTARG = text, FUNCTION = spy.matches)',
  'SET search_path = spy, pg_catalog',
])
  await tables.run({ text, params: [] });
await testGuards(tables, postgresAggregate(tables.dialect), () =>
  tables.notices
    .splice(0)
    .filter((notice) => notice.startsWith('text '))
    .map((notice) => notice.slice(5)),
);
