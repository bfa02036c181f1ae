/** Path prefix of the data endpoints (requests.md#addresses). */
export const prefix = '/platform';

/** Path of the console (console.md#addresses-of-the-console). */
export const consolePath = '/console';
