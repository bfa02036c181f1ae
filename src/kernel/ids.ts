import { customAlphabet } from 'nanoid';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new objectId: 10 letters and digits from a cryptographic source (SPEC "Fields on every record"). */
export const newObjectId: () => string = customAlphabet(alphabet, 10);

/** A new id of the site layer: 24 hexadecimal characters (SPEC "Limits"). */
export const newSiteId: () => string = customAlphabet('0123456789abcdef', 24);

/** A new secret of 32 letters and digits, for keys and passwords that the service makes itself. */
export const newSecret: () => string = customAlphabet(alphabet, 32);

let lastWriteOrder = 0;

/** The number of a write in the order in which writes came to this process: to be taken on entry, before anything is awaited. */
export const nextWriteOrder = (): number => ++lastWriteOrder;
