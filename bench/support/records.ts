/** The records of every workload: 12 fields of 7 types, about 500 bytes of JSON, identical in every run. */
export const table = 'Bench';
export const cities = 200;
export const amounts = 1_000_000;

export const fields = {
  Name: { type: 'String' },
  PhoneNumber: { type: 'String' },
  Email: { type: 'String' },
  City: { type: 'String' },
  Comment: { type: 'String' },
  Amount: { type: 'Number' },
  Score: { type: 'Number' },
  Quantity: { type: 'Number' },
  Active: { type: 'Boolean' },
  DueDate: { type: 'Date' },
  OwnerId: { type: 'Pointer', targetClass: '_User' },
  Tags: { type: 'Array' },
};
export const indexes = { byAmount: { Amount: 1 }, byCity: { City: 1 } };

/** Returns a number from 0 to `below` (exclusive), spread evenly over consecutive seeds; deterministic. */
export function spread(seed: number, below: number): number {
  let mixed = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 0;
  return ((mixed ^ (mixed >>> 13)) >>> 0) % below;
}

export function makeRecord(seed: number): Record<string, unknown> {
  const digits = String(1_000_000 + spread(seed, 8_999_999));
  return {
    Name: `Customer ${seed} Levi-Cohen`,
    PhoneNumber: `05${seed % 10}${digits}`,
    Email: `customer${seed}@example.com`,
    City: `City ${spread(seed + 7, cities)}`,
    Comment: `Called on ${digits}, asked for an offer for ${seed % 37} seats; to be called back next week.`,
    Amount: spread(seed + 13, amounts) + 0.5,
    Score: spread(seed + 17, 1000) / 10,
    Quantity: spread(seed + 19, 50),
    Active: seed % 3 !== 0,
    DueDate: { __type: 'Date', iso: new Date(1_700_000_000_000 + spread(seed + 23, 31_536_000) * 1000).toISOString() },
    OwnerId: { __type: 'Pointer', className: '_User', objectId: `owner${String(spread(seed + 29, 100000)).padStart(5, '0')}` },
    Tags: ['customer', `tag${seed % 11}`, `segment ${seed % 5}`],
  };
}
