/** Constraints on Array fields, and dotted names into Object fields. */
import { before } from 'node:test';
import { badCases, createEach, date, defineTable, onEachEngine, pointer, tableName, whereCases } from '../support/query.ts';

onEachEngine((get) => {
  const lists = tableName('Lists');
  const tag = (id: string) => pointer('Tags', id);
  before(async () => {
    await defineTable(get(), lists, { k: 'String', tags: 'Array', nums: 'Array', links: 'Array' });
    await createEach(get(), lists, [
      { k: 'a', tags: ['red', 'blue'], nums: [1, 9], links: [tag('tag0000001'), tag('tag0000002')] },
      { k: 'b', tags: ['red'], nums: [2], links: [tag('tag0000002')] },
      { k: 'c', tags: [], nums: [], links: [] },
      { k: 'd' },
      { k: 'e', tags: [1, 'red', true, 'green'], nums: [20, 30] },
    ]);
  });
  whereCases(get, 'Records/Query Array', lists, [
    ['a scalar constraint on an Array field matches an element', { tags: 'red' }, 'a b e'],
    ['an element of another type is another element', { tags: '1' }, ''],
    ['a Number element', { tags: 1 }, 'e'],
    ['a Boolean element', { tags: true }, 'e'],
    ['$eq matches an element', { tags: { $eq: 'blue' } }, 'a'],
    ['$ne: no element is equal, absent fields included', { tags: { $ne: 'red' } }, 'c d'],
    ['$in: any element', { tags: { $in: ['blue', 1] } }, 'a e'],
    ['$nin: no element', { tags: { $nin: ['blue', 1] } }, 'b c d'],
    ['containedIn on an Array: any element', { tags: { containedIn: ['blue', 'green'] } }, 'a e'],
    ['$in []: nothing', { tags: { $in: [] } }, ''],
    ['$nin []: everything', { tags: { $nin: [] } }, 'a b c d e'],
    ['$all: all of the list are elements', { tags: { $all: ['blue', 'red'] } }, 'a'],
    ['$all with one value', { tags: { $all: ['red'] } }, 'a b e'],
    ['$all with a value that none has', { tags: { $all: ['red', 'none'] } }, ''],
    ['$all with $regex elements (startsWith)', { tags: { $all: [{ $regex: '^\\Qre\\E' }, { $regex: '^\\Qbl\\E' }] } }, 'a'],
    ['$containedBy: every element is in the list', { tags: { $containedBy: ['red', 'blue'], $exists: true } }, 'a b c'],
    ['$containedBy: one element outside the list is enough', { tags: { $containedBy: ['blue'], $exists: true } }, 'c'],
    ['$exists: an empty Array is there', { tags: { $exists: true } }, 'a b c e'],
    ['$exists false', { tags: { $exists: false } }, 'd'],
    ['null', { tags: null }, 'd'],
    ['$gt matches an element', { nums: { $gt: 5 } }, 'a e'],
    ['$lte matches an element', { nums: { $lte: 2 } }, 'a b'],
    ['$regex matches an element', { tags: { $regex: '^gr' } }, 'e'],
    ['a Pointer element by the full Pointer object', { links: tag('tag0000002') }, 'a b'],
    ['a Pointer element: a bare string matches nothing', { links: 'tag0000002' }, ''],
    ['$in of Pointers', { links: { $in: [tag('tag0000001'), tag('tag0000009')] } }, 'a'],
    ['containedIn of Pointers', { links: { containedIn: [tag('tag0000002')] } }, 'a b'],
    ['$nin of Pointers', { links: { $nin: [tag('tag0000001')] } }, 'b c d e'],
    ['$all of Pointers', { links: { $all: [tag('tag0000002'), tag('tag0000001')] } }, 'a'],
  ]);
  badCases(get, 'Records/Query Array', lists, [
    ['$in needs an array', { where: { tags: { $in: 'red' } } }, 107, /bad \$in value/],
    ['$nin needs an array', { where: { tags: { $nin: 'red' } } }, 107, /bad \$nin value/],
    ['$all needs an array', { where: { tags: { $all: 'red' } } }, 107],
    ['$containedBy needs an array', { where: { tags: { $containedBy: 'red' } } }, 107, /bad \$containedBy/],
    ['$all takes all $regex or none', { where: { tags: { $all: [{ $regex: '^\\Qre\\E' }, 'blue'] } } }, 107],
  ]);

  const objects = tableName('Objects');
  before(async () => {
    await defineTable(get(), objects, { k: 'String', o: 'Object' });
    await createEach(get(), objects, [
      { k: 'a', o: { city: 'Haifa', n: 1, deep: { x: [{ z: 5 }] }, link: pointer('Tags', 'tag0000001'), yes: true } },
      { k: 'b', o: { city: 'Tel Aviv', n: 10, when: date('2024-06-01T00:00:00.000Z') } },
      { k: 'c', o: { city: null } },
      { k: 'd' },
      { k: 'e', o: { n: '10', when: date('2020-01-01T00:00:00.000Z') } },
      { k: 'f', o: { exact: { q: 1 } } },
    ]);
  });
  whereCases(get, 'Records/Query Object', objects, [
    ['dotted names reach into Object fields', { 'o.city': 'Haifa' }, 'a'],
    ['a dotted Number', { 'o.n': 10 }, 'b'],
    ['a dotted value keeps its type', { 'o.n': '10' }, 'e'],
    ['a dotted Boolean', { 'o.yes': true }, 'a'],
    ['a dotted comparison', { 'o.n': { $gt: 0, $lt: 5 } }, 'a'],
    ['a dotted $ne matches absent too', { 'o.city': { $ne: 'Haifa' } }, 'b c d e f'],
    ['a dotted $in', { 'o.city': { $in: ['Haifa', 'Tel Aviv'] } }, 'a b'],
    ['a dotted $nin', { 'o.city': { $nin: ['Haifa'] } }, 'b c d e f'],
    ['a dotted $exists true: null counts as absent', { 'o.city': { $exists: true } }, 'a b'],
    ['a dotted $exists false: null counts as absent', { 'o.city': { $exists: false } }, 'c d e f'],
    ['a dotted null', { 'o.n': null }, 'c d f'],
    ['a dotted $regex', { 'o.city': { $regex: 'viv$' } }, 'b'],
    ['a dotted Pointer', { 'o.link': pointer('Tags', 'tag0000001') }, 'a'],
    ['a dotted Date comparison', { 'o.when': { $gte: date('2024-01-01T00:00:00.000Z') } }, 'b'],
    ['a dotted path of several levels, into a list by position', { 'o.deep.x.0.z': 5 }, 'a'],
    ['a dotted path that leads nowhere', { 'o.deep.y.z': { $exists: true } }, ''],
    ['a quote in a key is a key that nobody has', { "o.ci'ty": 1 }, ''],
    ['a double quote in a key is a key that nobody has', { 'o.ci"ty': 1 }, ''],
    ['equality with a whole Object', { o: { exact: { q: 1 } } }, 'f'],
    ['equality with a nested Object', { 'o.exact': { q: 1 } }, 'f'],
    ['$exists on the Object itself', { o: { $exists: true } }, 'a b c e f'],
  ]);
});
