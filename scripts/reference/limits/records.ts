import { settings } from '../../../src/config/settings.ts';
import { newObjectId } from '../../../src/kernel/ids.ts';
import { limits } from '../../../src/kernel/limits.ts';
import * as expression from '../../../src/query/aggregate/expression.ts';
import * as operators from '../../../src/query/aggregate/operators.ts';
import * as stages from '../../../src/query/aggregate/parse.ts';
import * as pipeline from '../../../src/query/aggregate/pipeline.ts';
import * as names from '../../../src/query/model/names.ts';
import * as order from '../../../src/query/order.ts';
import * as selection from '../../../src/query/selection.ts';
import * as port from '../../../src/storage/port.ts';
import * as message from '../../../src/storage/postgres/connection/message-size.ts';
import * as prefixes from '../../../src/storage/sql/full-text/hebrew-prefixes.ts';
import * as words from '../../../src/storage/sql/full-text/words.ts';
import * as expansion from '../../../src/storage/sql/reads/include-expansion.ts';
import * as maximum from '../../../src/storage/sqlite/connection/open-database.ts';
import { bytes, characters, count, duration, type LimitGroup } from './limit.ts';

export const queryLimits: readonly LimitGroup[] = [
  {
    heading: '## Queries',
    limits: [
      {
        of: 'records of an answer',
        value: `\`limit\`, ${limits.defaultLimit} by default; no maximum`,
        beyond: 'the rest comes with `skip`',
        see: 'queries.md#limit-and-skip',
      },
      {
        of: 'time of a query',
        value: `\`QUERY_TIMEOUT_MS\`, ${duration(settings.QUERY_TIMEOUT_MS.read.parse(undefined))} by default`,
        beyond: '503, code 124',
        see: 'queries.md#time-limit',
      },
      {
        of: 'nesting of a `where`',
        value: `${limits.whereDepth} levels`,
        beyond: '400, code 102',
        see: 'queries.md#query-limits',
      },
      {
        of: 'constraints of a query, with its sub-queries and stages',
        value: count(limits.whereTerms),
        beyond: '400, code 102',
        see: 'queries.md#query-limits',
      },
      {
        of: 'values of a query, with its sub-queries and stages',
        value: count(limits.queryValues),
        beyond: '400, code 102',
        see: 'queries.md#query-limits',
      },
      {
        of: '`where` or `pipeline` sent as text',
        value: characters(limits.queryLength),
        beyond: '400, code 102',
        see: 'queries.md#query-limits',
      },
      { of: 'fields in `order`', value: count(order.MAX_ORDER_KEYS), beyond: '400, code 102', see: 'queries.md#order' },
      {
        of: 'Pointers that the names of an `order` lead through',
        value: count(order.MAX_ORDER_POINTERS),
        beyond: '400, code 102',
        see: 'queries.md#order',
      },
      {
        of: 'list of names (`keys`, `include`, …)',
        value: `${count(names.MAX_NAMES)} names, ${characters(names.MAX_LIST_CHARACTERS)}`,
        beyond: '400, code 102',
        see: 'queries.md#keys',
      },
      {
        of: 'levels of `include`; places that a query expands or projects',
        value: `${selection.MAX_LEVELS}; ${selection.MAX_PLACES}`,
        beyond: '400, code 102',
        see: 'queries.md#include',
      },
      {
        of: 'text that includes put into one record',
        value: characters(expansion.MAX_RECORD_EXPANSION_CHARS),
        beyond: '413, code 116',
        see: 'queries.md#include',
      },
      {
        of: 'answer that is built in memory (agent tools, functions, batches)',
        value: characters(port.MAX_TEXT_CHARS),
        beyond: '413, code 116',
        see: 'queries.md#query-limits',
      },
      { of: 'a `$regex`', value: characters(limits.regexLength), beyond: '400, code 102', see: 'queries.md#regular-expressions' },
      {
        of: 'steps of a `$regex`; of all patterns of a request',
        value: `${count(limits.regexSize)}; ${count(limits.requestRegexSize)}`,
        beyond: '400, code 102',
        see: 'queries.md#regular-expressions',
      },
      {
        of: 'part of a text that a text index holds',
        value: characters(words.MAX_INDEXED_LENGTH),
        beyond: '`$text` does not find what follows',
        see: 'queries.md#text-search',
      },
      {
        of: 'words of a search that are also found behind Hebrew prefix letters; prefix letters of a word',
        value: `${prefixes.MAX_PREFIXED_WORDS}; ${prefixes.MAX_PREFIX_LETTERS}`,
        beyond: 'further words are searched as they are',
        see: 'queries.md#text-search',
      },
    ],
  },
  {
    heading: '### Aggregations',
    limits: [
      { of: 'stages', value: count(stages.MAX_STAGES), beyond: '400, code 102', see: 'aggregation.md#aggregation-limits' },
      {
        of: 'parts of expressions and conditions, of all stages',
        value: count(pipeline.MAX_PARTS),
        beyond: '400, code 102',
        see: 'aggregation.md#aggregation-limits',
      },
      {
        of: 'nesting of an expression',
        value: `${expression.MAX_DEPTH} levels`,
        beyond: '400, code 102',
        see: 'aggregation.md#aggregation-limits',
      },
      {
        of: 'operands of an operator, members of an object',
        value: count(operators.MAX_ITEMS),
        beyond: '400, code 102',
        see: 'aggregation.md#aggregation-limits',
      },
      {
        of: 'values that one value is put together from',
        value: count(pipeline.MAX_COPIES),
        beyond: '400, code 102',
        see: 'aggregation.md#aggregation-limits',
      },
      {
        of: 'members of a result',
        value: count(pipeline.MAX_COLUMNS),
        beyond: '400, code 102',
        see: 'aggregation.md#aggregation-limits',
      },
      {
        of: 'a row of the result',
        value: `${bytes(maximum.MAX_VALUE_BYTES)}; on PostgreSQL ${bytes(message.MAX_MESSAGE_BYTES)}`,
        beyond: '400, code 102; on PostgreSQL 413, code 116',
        see: 'aggregation.md#aggregation-limits',
      },
    ],
  },
];

export const recordLimits: readonly LimitGroup[] = [
  {
    heading: '## Records',
    limits: [
      {
        of: 'all values of a record, as they are stored',
        value: bytes(limits.recordBytes),
        beyond: '413, code 116; of forms 400',
        see: 'records.md#size-of-a-record',
      },
      {
        of: 'on PostgreSQL: numbers and short texts of a record; a value in an index',
        value: 'some 8 KB; some 2,700 bytes',
        beyond: '413, code 116; of forms 400',
        see: 'postgresql.md#differences',
      },
      {
        of: 'fields of a table, with those of every record',
        value: count(limits.fieldsPerTable),
        beyond: '400, code 136',
        see: 'records.md#new-fields-and-tables',
      },
      {
        of: 'name of a table or field',
        value: characters(limits.nameLength),
        beyond: '400, code 103 or 105',
        see: 'types.md#names',
      },
      {
        of: '`objectId` that the service makes',
        value: characters(newObjectId().length),
        beyond: 'keys may send another of any length',
        see: 'records.md#create',
      },
    ],
  },
];
