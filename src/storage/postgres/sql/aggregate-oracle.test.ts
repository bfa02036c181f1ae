import { after } from 'node:test';
import { testRandomAggregates } from '../../sql/testing/aggregate-oracle.ts';
import { SalesTable } from '../../sql/testing/sales.ts';
import { PostgresTables } from '../testing/tables.ts';
import { postgresAggregate } from './aggregate.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
testRandomAggregates(await SalesTable.make(tables, postgresAggregate(tables.dialect), []), 50);
