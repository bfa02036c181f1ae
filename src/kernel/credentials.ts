/** Application ids are names of directories. */
export const appIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Keys travel in headers: printable ASCII characters, no space at either end. Shorter ones are easily guessed. */
export const keyPattern = /^[\x21-\x7e][\x20-\x7e]{6,254}[\x21-\x7e]$/;
export const keyForm = '8 to 256 printable ASCII characters';

export const SHORT_KEY_LENGTH = 20;

/** Whether a key may be guessed, since a person has probably chosen it. */
export const isShortKey = (key: string): boolean => key.length < SHORT_KEY_LENGTH;

/** Returns a warning about a key that may be guessed; `null` for others. @param name of the key */
export function shortKeyWarning(name: string, key: string | undefined): string | null {
  return key !== undefined && isShortKey(key)
    ? `${name} has fewer than ${SHORT_KEY_LENGTH} characters: such keys are found by trying`
    : null;
}
