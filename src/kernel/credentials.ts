/** Application ids name directories. */
export const appIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Keys travel in headers: printable ASCII characters, none of them a space at either end. Shorter ones are soon found by trying. */
export const keyPattern = /^[\x21-\x7e][\x20-\x7e]{6,254}[\x21-\x7e]$/;
export const keyForm = '8 to 256 printable ASCII characters';

const SHORT_KEY_LENGTH = 20;

/** Whether a key may be found by trying: somebody has thought of it. */
export const isShortKey = (key: string): boolean => key.length < SHORT_KEY_LENGTH;

/** What to tell of a key that somebody has thought of; `null` where nothing is. @param name what the key is called */
export function shortKeyWarning(name: string, key: string | undefined): string | null {
  return key !== undefined && isShortKey(key)
    ? `${name} has fewer than ${SHORT_KEY_LENGTH} characters: such keys are found by trying`
    : null;
}
