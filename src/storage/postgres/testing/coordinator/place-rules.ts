/** Rules for where a statement runs, and for definitions (Citus: distributed_planner.c, commands/). */
import { REGISTRY, type Rule } from './rule.ts';
import { allOf, type Node, nodesIn, schemasIn, type Tree } from './tree.ts';
import { dependsOnSession } from './volatility.ts';

const isModification = ({ kind }: Node): boolean => ['InsertStmt', 'UpdateStmt', 'DeleteStmt'].includes(kind);

export const placeRules: readonly Rule[] = [
  {
    name: 'tables of two schemas in one statement',
    citus: '0A000 … reference non-colocated distributed tables; XX000 … requires repartitioning; some run, over both workers',
    instead: 'a statement for each schema',
    isBroken: (statement) => new Set(schemasIn(statement)).size > 1,
  },
  {
    name: 'function of the session or clock in a SELECT from a table',
    citus:
      "runs on the table's worker, in silence: the lock, notification or setting is in a session there, and the clock is the worker's",
    instead: 'a statement without a table before it; for the clock, bind the time, or compare inside UPDATE, INSERT or DELETE',
    isBroken(statement) {
      if (!schemasIn(statement).some((schema) => schema !== REGISTRY)) return false;
      // The coordinator evaluates what an INSERT, UPDATE or DELETE computes.
      return allOf(statement, 'SelectStmt', isModification).some((select) =>
        nodesIn(select, isModification).some(dependsOnSession),
      );
    },
  },
  {
    name: 'CREATE SCHEMA IF NOT EXISTS',
    citus: 'makes an existing schema one that lies on a worker, in silence, if citus.enable_schema_based_sharding is on',
    instead: 'CREATE SCHEMA, if to_regnamespace is null',
    isBroken: (statement) => allOf(statement, 'CreateSchemaStmt').some(({ if_not_exists }) => if_not_exists === true),
  },
  {
    name: 'identity or serial column added to a table',
    citus: '0A000 cannot execute ADD COLUMN commands involving identity columns when metadata is synchronized to workers',
    instead: 'create the table with the column',
    isBroken: (statement) =>
      allOf(statement, 'AlterTableCmd')
        .filter(({ subtype }) => subtype === 'AT_AddColumn' || subtype === 'AT_AddIdentity')
        .some((command) => /CONSTR_IDENTITY|"sval":"(?:small|big)?serial\d?"|"sval":"nextval"/.test(JSON.stringify(command))),
  },
  {
    name: 'ALTER of a sequence',
    citus: 'XX000 Altering a distributed sequence is currently not supported',
    instead: 'setval',
    isBroken: (statement) =>
      nodesIn(statement).some(
        ({ kind, tree }) => kind === 'AlterSeqStmt' || (kind === 'AlterTableCmd' && tree.subtype === 'AT_SetIdentity'),
      ),
  },
  {
    name: 'trigger, or inheritance between tables',
    citus:
      'XX000 triggers are not supported on distributed tables; tables in a distributed schema cannot inherit or be inherited',
    instead: 'statements of the service',
    isBroken: (statement) =>
      nodesIn(statement).some(
        ({ kind, tree }) => kind === 'CreateTrigStmt' || (kind === 'CreateStmt' && 'inhRelations' in (tree as Tree)),
      ),
  },
];
