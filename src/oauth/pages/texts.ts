import type { AgentPermission } from '../../access/index.ts';
import type { Language } from '../../kernel/language.ts';

/** A sentence that contains a name, which is HTML. */
type Sentence = (name: string) => string;

/** Errors on the sign-in page. */
export type SignInFault = 'badLogin' | 'accountLocked' | 'userInactive' | 'missing' | 'tooMany';

/** Reasons why the sign-in cannot continue. */
export type SignInError = 'gone' | 'unknown' | 'badRequest' | 'tooMany' | 'fault';

interface Texts {
  readonly signIn: {
    readonly title: string;
    readonly lead: Sentence;
    readonly name: string;
    readonly password: string;
    readonly submit: string;
  };
  readonly signInFaults: Readonly<Record<SignInFault, (minutes: number) => string>>;
  readonly client: {
    readonly unnamed: string;
    readonly returnsTo: Sentence;
    readonly onDevice: Sentence;
    readonly inProgram: Sentence;
    readonly publishedAt: Sentence;
    readonly warning: string;
  };
  readonly consent: {
    readonly title: Sentence;
    readonly lead: Sentence;
    readonly as: Sentence;
    readonly other: string;
    readonly legend: string;
    readonly none: string;
    readonly noneNext: string;
    readonly nothingTicked: string;
    readonly unavailable: string;
    readonly bound: string;
    readonly allow: string;
  };
  readonly cancel: string;
  readonly back: string;
  readonly permissions: Readonly<Record<AgentPermission, readonly [title: string, detail: string]>>;
  readonly ends: Readonly<Record<SignInError, readonly [title: string, text: string]>>;
}

const en: Texts = {
  signIn: {
    title: 'Sign in',
    lead: (client) => `${client} asks to work in this system in your name. Sign in with your user name and password.`,
    name: 'User name or e-mail',
    password: 'Password',
    submit: 'Sign in',
  },
  signInFaults: {
    badLogin: () => 'The user name or the password is wrong.',
    accountLocked: (minutes) => `The user is locked after too many wrong passwords. Try again in ${minutes} minutes.`,
    userInactive: () => 'This user is not active. Ask your administrator.',
    missing: () => 'Fill in both the user name and the password.',
    tooMany: () => 'Too many attempts from your network. Wait a minute and try again.',
  },
  client: {
    unnamed: 'A program without a name',
    returnsTo: (host) => `Afterwards you are sent on to ${host}.`,
    onDevice: (host) => `Afterwards you are sent back to a program on this device (${host}).`,
    inProgram: (scheme) => `Afterwards you are sent back to the program on this device that opens ${scheme}.`,
    publishedAt: (host) => `It is published at ${host}.`,
    warning: 'The program chose its own name. Go on only if you have just started this yourself.',
  },
  consent: {
    title: (client) => `Allow ${client}?`,
    lead: (client) =>
      `${client} will be able to do what you tick here, in this system and in your name, until you or your administrator end it.`,
    as: (user) => `You are signed in as ${user}.`,
    other: 'Not you? Sign in as another user',
    legend: 'What it may do',
    none: 'You have none of the permissions for agents that this program asks for.',
    noneNext: 'An administrator of the system can give them to you; sign in here again then.',
    nothingTicked: 'Tick at least one permission, or cancel.',
    unavailable: 'Not available: you do not have this permission yourself.',
    bound: 'It never gets more than your own role allows.',
    allow: 'Allow',
  },
  cancel: 'Cancel',
  back: 'Go back',
  permissions: {
    'mcp:view': ['See records', 'Read the tables and files that your role lets you read.'],
    'mcp:create': ['Add records', 'Add new records and files.'],
    'mcp:update': ['Change records', 'Change records that are there.'],
    'mcp:edit-page-and-schema': [
      'Change pages and tables',
      'Change pages, menus, tables and settings, where you administer the system.',
    ],
  },
  ends: {
    gone: ['This page has ended', 'It was open for too long, or was used before. Go back to the program and start again.'],
    unknown: ['There is no such page', 'The address leads to no system. Check it with whoever gave it to you.'],
    badRequest: [
      'This request cannot be answered',
      'The program that sent you here asked for something that it may not. Nothing was allowed to it.',
    ],
    tooMany: ['Too many requests', 'There were too many requests from your network. Wait a minute and try again.'],
    fault: ['Something went wrong', 'Try again in a moment.'],
  },
};

const he: Texts = {
  signIn: {
    title: 'כניסה',
    lead: (client) => `${client} מבקשת לעבוד במערכת הזאת בשמך. יש להיכנס עם שם המשתמש והסיסמה שלך.`,
    name: 'שם משתמש או דואר אלקטרוני',
    password: 'סיסמה',
    submit: 'כניסה',
  },
  signInFaults: {
    badLogin: () => 'שם המשתמש או הסיסמה שגויים.',
    accountLocked: (minutes) => `המשתמש נעול אחרי יותר מדי סיסמאות שגויות. אפשר לנסות שוב בעוד ${minutes} דקות.`,
    userInactive: () => 'המשתמש אינו פעיל. כדאי לפנות למנהל המערכת.',
    missing: () => 'יש למלא גם את שם המשתמש וגם את הסיסמה.',
    tooMany: () => 'יותר מדי ניסיונות מהרשת שלך. אפשר לנסות שוב בעוד דקה.',
  },
  client: {
    unnamed: 'תוכנה ללא שם',
    returnsTo: (host) => `אחר כך תתבצע העברה אל ${host}.`,
    onDevice: (host) => `אחר כך תתבצע חזרה אל תוכנה במכשיר הזה (${host}).`,
    inProgram: (scheme) => `אחר כך תתבצע חזרה אל התוכנה במכשיר הזה שפותחת ${scheme}.`,
    publishedAt: (host) => `היא מפורסמת בכתובת ${host}.`,
    warning: 'התוכנה בחרה את שמה בעצמה. יש להמשיך רק אם התחלת את זה הרגע.',
  },
  consent: {
    title: (client) => `לאשר את ${client}?`,
    lead: (client) => `${client} תוכל לעשות את מה שמסומן כאן, במערכת הזאת ובשמך, עד שאת האישור יבטלו אתה או מנהל המערכת.`,
    as: (user) => `נכנסת בתור ${user}.`,
    other: 'לא אתה? כניסה כמשתמש אחר',
    legend: 'מה מותר לה',
    none: 'אין לך אף אחת מההרשאות לסוכנים שהתוכנה מבקשת.',
    noneNext: 'מנהל המערכת יכול לתת לך אותן; אחר כך אפשר להיכנס כאן שוב.',
    nothingTicked: 'יש לסמן הרשאה אחת לפחות, או לבטל.',
    unavailable: 'לא זמין: אין לך עצמך ההרשאה הזאת.',
    bound: 'היא לעולם לא תקבל יותר ממה שהתפקיד שלך מתיר.',
    allow: 'אישור',
  },
  cancel: 'ביטול',
  back: 'חזרה',
  permissions: {
    'mcp:view': ['לראות רשומות', 'לקרוא את הטבלאות והקבצים שהתפקיד שלך מתיר לקרוא.'],
    'mcp:create': ['להוסיף רשומות', 'להוסיף רשומות וקבצים חדשים.'],
    'mcp:update': ['לשנות רשומות', 'לשנות רשומות קיימות.'],
    'mcp:edit-page-and-schema': ['לשנות דפים וטבלאות', 'לשנות דפים, תפריטים, טבלאות והגדרות, למי שמנהל את המערכת.'],
  },
  ends: {
    gone: ['הדף כבר אינו בתוקף', 'הוא היה פתוח זמן רב מדי, או שכבר נעשה בו שימוש. יש לחזור לתוכנה ולהתחיל מחדש.'],
    unknown: ['הדף לא נמצא', 'הכתובת אינה מובילה לאף מערכת. כדאי לבדוק אותה עם מי שנתן אותה.'],
    badRequest: ['אי אפשר לענות לבקשה הזאת', 'התוכנה ששלחה אותך לכאן ביקשה דבר שאינו מותר לה. לא אושר לה דבר.'],
    tooMany: ['יותר מדי בקשות', 'היו יותר מדי בקשות מהרשת שלך. אפשר לנסות שוב בעוד דקה.'],
    fault: ['משהו השתבש', 'אפשר לנסות שוב בעוד רגע.'],
  },
};

/** The texts of the pages, by language. */
export const texts: Readonly<Record<Language, Texts>> = { he, en };
