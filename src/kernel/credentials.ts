/** Application ids name directories. */
export const appIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Keys travel in headers: printable ASCII characters, none of them a space at either end. */
export const keyPattern = /^[\x21-\x7e](?:[\x20-\x7e]{0,254}[\x21-\x7e])?$/;
