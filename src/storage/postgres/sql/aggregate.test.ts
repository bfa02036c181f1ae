import { after } from 'node:test';
import { testAggregates } from '../../sql/testing/aggregate-cases.ts';
import { records } from '../../sql/testing/aggregate-data.ts';
import { SalesTable } from '../../sql/testing/sales.ts';
import { PostgresTables } from '../testing/tables.ts';
import { postgresAggregate } from './aggregate.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
testAggregates(await SalesTable.make(tables, postgresAggregate(tables.dialect), records));
