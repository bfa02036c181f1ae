/** The languages of the pages. */
export type Language = 'he' | 'en';

export const directionOf = (language: Language): 'rtl' | 'ltr' => (language === 'he' ? 'rtl' : 'ltr');

/** Sources of a page's language; the first that names a supported one decides. */
export interface LanguageHints {
  /** `?lang` of the page's language switch. */
  readonly requested?: string | undefined;
  /** The choice on the page before. */
  readonly before?: unknown;
  /** `ui_locales` of the request: language tags, separated by spaces. */
  readonly locales?: unknown;
  readonly acceptLanguage?: string | undefined;
}

/** Chooses the language of a page: English by default. */
export function chooseLanguage({ requested, before, locales, acceptLanguage }: LanguageHints): Language {
  const tags = [requested, before, ...String(locales ?? '').split(' '), ...accepted(acceptLanguage ?? '')];
  for (const tag of tags) {
    const language = typeof tag === 'string' ? languageOf(tag) : undefined;
    if (language) return language;
  }
  return 'en';
}

function languageOf(tag: string): Language | undefined {
  const [primary = ''] = tag.trim().toLowerCase().split('-');
  // `iw` is the old code of Hebrew.
  if (primary === 'he' || primary === 'iw') return 'he';
  return primary === 'en' ? 'en' : undefined;
}

/** Returns the tags of an Accept-Language header, the most preferred first. */
function accepted(header: string): string[] {
  return header
    .slice(0, 1_000)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';');
      const weight = parameters
        .map((parameter) => /^\s*q=([\d.]+)\s*$/.exec(parameter)?.[1])
        .find((found) => found !== undefined);
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
