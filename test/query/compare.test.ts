/** Equality, comparison, lists and absence on the scalar field types. */
import { before } from 'node:test';
import { createEach, date, defineTable, onEachEngine, tableName, type WhereCase, whereCases } from '../support/query.ts';

const day = 86_400_000;
const fromNow = (ms: number) => date(new Date(Date.now() + ms).toISOString());
const june = date('2024-06-01T12:30:00.250Z');

onEachEngine((get) => {
  const table = tableName('Compare');
  before(async () => {
    await defineTable(get(), table, { k: 'String', s: 'String', n: 'Number', b: 'Boolean', d: 'Date', r: 'Date', h: 'HTML/XML' });
    await createEach(get(), table, [
      { k: 'a', s: 'Apple', n: 1, b: true, d: date('1950-01-01T00:00:00.000Z'), r: fromNow(-5 * day), h: '<b>x</b>' },
      { k: 'b', s: 'apple', n: 2, b: false, d: june, r: fromNow(-day), h: '<i>y</i>' },
      { k: 'c', s: 'Banana', n: 2.5, d: date('2024-06-01T12:30:00.251Z'), r: fromNow(day) },
      { k: 'd', s: '', n: -3, d: date('2030-12-31T23:59:59.999Z'), r: fromNow(30 * day) },
      { k: 'e' },
      { k: 'f', s: 'אבג', n: 0 },
    ]);
  });

  const strings: WhereCase[] = [
    ['equality on a String is exact and case-sensitive', { s: 'Apple' }, 'a'],
    ['equality with a Hebrew String', { s: 'אבג' }, 'f'],
    ['the empty String is a value of its own', { s: '' }, 'd'],
    ['$eq is equality', { s: { $eq: 'apple' } }, 'b'],
    ['$ne also matches records where the field is absent', { s: { $ne: 'Apple' } }, 'b c d e f'],
    ['$lt compares Strings bytewise', { s: { $lt: 'Banana' } }, 'a d'],
    ['$lte compares Strings bytewise', { s: { $lte: 'Banana' } }, 'a c d'],
    ['$gt compares Strings bytewise', { s: { $gt: 'Banana' } }, 'b f'],
    ['$gte compares Strings bytewise', { s: { $gte: 'Banana' } }, 'b c f'],
    ['two comparisons on one field are combined', { s: { $gt: '', $lt: 'b' } }, 'a b c'],
    ['$in matches any of a list', { s: { $in: ['Apple', 'אבג', 'absent'] } }, 'a f'],
    ['$nin matches none of a list and absent fields', { s: { $nin: ['Apple', 'אבג'] } }, 'b c d e'],
    ['containedIn is read as $in', { s: { containedIn: ['Apple', 'apple'] } }, 'a b'],
    ['notContainedIn is read as $nin', { s: { notContainedIn: ['Apple', 'apple'] } }, 'c d e f'],
    ['$in [] matches nothing', { s: { $in: [] } }, ''],
    ['$nin [] matches everything', { s: { $nin: [] } }, 'a b c d e f'],
    ['$exists true matches a field that has a value, the empty String too', { s: { $exists: true } }, 'a b c d f'],
    ['$exists false matches an absent field', { s: { $exists: false } }, 'e'],
    ['null matches an absent field', { s: null }, 'e'],
    ['$ne null matches a present field', { s: { $ne: null } }, 'a b c d f'],
    ['$not turns a comparison round, absent fields included', { s: { $not: { $eq: 'Apple' } } }, 'b c d e f'],
    ['an HTML/XML field is compared like a String', { h: '<b>x</b>' }, 'a'],
    ['a quote in a value is bound, never spliced', { s: "' OR 1=1 --" }, ''],
    ['several fields combine with AND', { s: 'Apple', n: 1 }, 'a'],
    ['several fields combine with AND: one that fails is enough', { s: 'Apple', n: 2 }, ''],
  ];
  const numbers: WhereCase[] = [
    ['equality on a Number', { n: 2.5 }, 'c'],
    ['zero is a value', { n: 0 }, 'f'],
    ['negative Numbers', { n: -3 }, 'd'],
    ['$lt', { n: { $lt: 1 } }, 'd f'],
    ['$lte', { n: { $lte: 1 } }, 'a d f'],
    ['$gt', { n: { $gt: 2 } }, 'c'],
    ['$gte', { n: { $gte: 2 } }, 'b c'],
    ['$gt and $lt together', { n: { $gt: 0, $lt: 2.5 } }, 'a b'],
    ['$ne', { n: { $ne: 2 } }, 'a c d e f'],
    ['$in', { n: { $in: [1, 2, 99] } }, 'a b'],
    ['$nin', { n: { $nin: [1, 2] } }, 'c d e f'],
    ['null', { n: null }, 'e'],
    ['$not with a comparison', { n: { $not: { $gt: 1 } } }, 'a d e f'],
    ['a String on a Number field matches nothing', { n: '1' }, ''],
    ['$gt of a String on a Number field matches nothing', { n: { $gt: '0' } }, ''],
    ['$ne of a String on a Number field matches everything', { n: { $ne: '1' } }, 'a b c d e f'],
    ['$nin of Strings on a Number field matches everything', { n: { $nin: ['1', '2'] } }, 'a b c d e f'],
    ['$in of mixed types matches by those of the right type', { n: { $in: ['2', 1] } }, 'a'],
    ['a Boolean on a Number field matches nothing', { n: true }, ''],
  ];
  const booleans: WhereCase[] = [
    ['true', { b: true }, 'a'],
    ['false is not absence', { b: false }, 'b'],
    ['$ne true matches false and absent', { b: { $ne: true } }, 'b c d e f'],
    ['$exists', { b: { $exists: true } }, 'a b'],
    ['$in', { b: { $in: [true, false] } }, 'a b'],
    ['null', { b: null }, 'c d e f'],
    ['1 is not true', { b: 1 }, ''],
    ['"true" is not true', { b: 'true' }, ''],
    ['$ne "true" matches everything', { b: { $ne: 'true' } }, 'a b c d e f'],
  ];
  const dates: WhereCase[] = [
    ['a Date constraint uses the full Date object', { d: june }, 'b'],
    ['a bare string on a Date field matches nothing', { d: june.iso }, ''],
    ['$gt of a bare string on a Date field matches nothing', { d: { $gt: '1900-01-01T00:00:00.000Z' } }, ''],
    ['$gte', { d: { $gte: june } }, 'b c d'],
    ['$gt tells milliseconds apart', { d: { $gt: june } }, 'c d'],
    ['$lt, before 1970 too', { d: { $lt: june } }, 'a'],
    ['$lte', { d: { $lte: june } }, 'a b'],
    ['a range', { d: { $gte: june, $lt: date('2030-01-01T00:00:00.000Z') } }, 'b c'],
    ['$ne', { d: { $ne: june } }, 'a c d e f'],
    ['$in', { d: { $in: [june, date('1950-01-01T00:00:00.000Z')] } }, 'a b'],
    ['$nin', { d: { $nin: [june] } }, 'a c d e f'],
    ['$in of bare strings matches nothing', { d: { $in: [june.iso] } }, ''],
    ['$exists false', { d: { $exists: false } }, 'e f'],
    ['$relativeTime "3 days ago"', { r: { $gt: { $relativeTime: '3 days ago' } } }, 'b c d'],
    ['$relativeTime "now"', { r: { $lte: { $relativeTime: 'now' } } }, 'a b'],
    ['$relativeTime "in 2 weeks"', { r: { $gte: { $relativeTime: 'in 2 weeks' } } }, 'd'],
    ['$relativeTime "2 hours ago"', { r: { $lt: { $relativeTime: '2 hours ago' } } }, 'a b'],
    ['createdAt takes the full Date object', { createdAt: { $gt: date('2020-01-01T00:00:00.000Z') } }, 'a b c d e f'],
    ['createdAt in the future matches nothing', { createdAt: { $gt: date('2999-01-01T00:00:00.000Z') } }, ''],
    ['createdAt: a bare string matches nothing', { createdAt: { $gt: '2020-01-01T00:00:00.000Z' } }, ''],
    ['updatedAt with $relativeTime', { updatedAt: { $gt: { $relativeTime: '1 hour ago' } } }, 'a b c d e f'],
  ];
  const absent: WhereCase[] = [
    ['an unknown field behaves as absent: equality', { nowhere: 1 }, ''],
    ['an unknown field behaves as absent: null', { nowhere: null }, 'a b c d e f'],
    ['an unknown field behaves as absent: $ne', { nowhere: { $ne: 1 } }, 'a b c d e f'],
    ['an unknown field behaves as absent: $nin', { nowhere: { $nin: [1] } }, 'a b c d e f'],
    ['an unknown field behaves as absent: $exists true', { nowhere: { $exists: true } }, ''],
    ['an unknown field behaves as absent: $exists false', { nowhere: { $exists: false } }, 'a b c d e f'],
    ['an unknown field behaves as absent: $gt', { nowhere: { $gt: 0 } }, ''],
    ['an empty where matches everything', {}, 'a b c d e f'],
  ];
  whereCases(get, 'Records/Query String', table, strings);
  whereCases(get, 'Records/Query Number', table, numbers);
  whereCases(get, 'Records/Query Boolean', table, booleans);
  whereCases(get, 'Records/Query Date', table, dates);
  whereCases(get, 'Records/Query absence', table, absent);
});
