import { customAlphabet } from 'nanoid';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new objectId: 10 letters and digits from a cryptographic source (SPEC "Fields on every record"). */
export const newObjectId: () => string = customAlphabet(alphabet, 10);

/** A new secret of 32 letters and digits, for keys and passwords that the service makes itself. */
export const newSecret: () => string = customAlphabet(alphabet, 32);
