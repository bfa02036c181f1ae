interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown;
}

/**
 * Allows the empty string to become markup, with which React Aria clears its live region. Everything else stays refused by the page's
 * `require-trusted-types-for`.
 */
export function allowEmptyMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', { createHTML: (text) => (text === '' ? '' : null) });
}
