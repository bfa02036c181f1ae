import { catalogue } from '../../errors/catalogue.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { type Bilingual, page, paragraphs } from './page.ts';

const title: Bilingual = { he: 'סיסמה חדשה', en: 'New password' };

const policy: Bilingual = {
  he: 'לפחות 8 תווים, ובהם אות קטנה, אות גדולה וספרה.',
  en: 'At least 8 characters, among them a lower-case letter, an upper-case letter and a digit.',
};

const weak: Bilingual = { he: 'הסיסמה אינה עומדת במדיניות הסיסמאות.', en: catalogue.passwordPolicy.text() };

/**
 * Renders the form that sets a new password. It does not reveal whether the token is valid.
 * @param token as in the URL, unchecked
 * @param isWeak whether the submitted password does not meet the policy
 */
export function formPage(token: string, isWeak = false): string {
  const alert = isWeak ? `<div role="alert" id="fault">${paragraphs(weak)}</div>` : '';
  const about = isWeak ? 'aria-invalid="true" aria-describedby="fault policy"' : 'aria-describedby="policy"';
  return page(
    title,
    [
      alert,
      // A relative URL without the token works behind any proxy path.
      '<form method="post" action="?" accept-charset="utf-8">',
      `<input type="hidden" name="token" value="${escapeHtml(token)}">`,
      `<label for="password">${escapeHtml(title.he)} · <span lang="en" dir="ltr">${escapeHtml(title.en)}</span></label>`,
      `<input id="password" name="password" type="password" dir="ltr" autocomplete="new-password" required autofocus ${about}>`,
      `<div id="policy">${paragraphs(policy)}</div>`,
      '<button type="submit">שמירה · <span lang="en" dir="ltr">Save</span></button>',
      '</form>',
    ].join(''),
  );
}

const messages = {
  done: {
    he: 'הסיסמה נשמרה. אפשר להיכנס איתה עכשיו; כל הכניסות הקודמות הסתיימו.',
    en: 'Your new password is set. You can sign in with it now; all earlier sessions have ended.',
  },
  badLink: {
    he: 'הקישור אינו בתוקף: כבר נעשה בו שימוש, עבר זמנו, או שנשלח קישור חדש ממנו. אפשר לבקש קישור חדש.',
    en: 'This link is no longer good: it was used, it has expired, or a newer one was sent. You can ask for a new one.',
  },
  unknown: { he: 'הדף לא נמצא.', en: 'There is no such page.' },
  fault: { he: 'משהו השתבש. כדאי לנסות שוב בעוד רגע.', en: 'Something went wrong. Please try again in a moment.' },
} as const satisfies Record<string, Bilingual>;

/** Renders a page with the outcome. */
export function messagePage(what: keyof typeof messages): string {
  return page(title, `<div role="status">${paragraphs(messages[what])}</div>`);
}
