import { escapeHtml } from '../../kernel/html.ts';
import type { MailMessage } from '../../mail/index.ts';

const subject = 'איפוס סיסמה · Password reset';

const hebrew = [
  'התקבלה בקשה לאפס את הסיסמה שלך. כדי לבחור סיסמה חדשה יש לפתוח את הקישור:',
  'הקישור טוב לשעה אחת ולשימוש אחד. לא ביקשת לאפס את הסיסמה? אין צורך לעשות דבר, והסיסמה לא תשתנה.',
] as const;

const english = [
  'Somebody asked to reset your password. To choose a new one, open this link:',
  'The link is good for one hour and can be used once. If it was not you who asked, there is nothing to do: your password stays as it is.',
] as const;

/** The message that brings a user the link to set a new password. */
export function resetMessage(to: string, link: string): MailMessage {
  const text = [hebrew, english].map(([before, after]) => `${before}\n\n${link}\n\n${after}\n`).join('\n---\n\n');
  return { to, subject, text, html: page(escapeHtml(link)) };
}

function page(link: string): string {
  const part = (direction: string, [before, after]: readonly [string, string]) =>
    `<div ${direction}><p>${before}</p><p dir="ltr"><a href="${link}">${link}</a></p><p>${after}</p></div>`;
  return [
    '<!doctype html><html lang="he" dir="rtl"><head><meta charset="utf-8"></head>',
    '<body style="font-family:sans-serif;line-height:1.5">',
    part('lang="he" dir="rtl"', hebrew),
    '<hr>',
    part('lang="en" dir="ltr"', english),
    '</body></html>',
  ].join('');
}
