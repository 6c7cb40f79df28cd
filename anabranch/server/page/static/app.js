var R,Ut,ro,z,Ue,Se,Bt,we,Ht,He,Be,ao,ue=Symbol.for("pv"),Te={},Ce=[],io=/^m(i|n|o|s|text|space)$/,We=Array.isArray,Ke=Ce.slice,ee=Object.assign;function Z(e){e&&e.parentNode&&e.remove()}function Wt(e,t,n){var o,a,s,r={},i=arguments.length;for(s in t)s=="key"?o=t[s]:s=="ref"&&typeof e!="function"?a=t[s]:r[s]=t[s];return i>2&&(r.children=i>3?Ke.call(arguments,2):n),ce(e,r,o,a,null)}function ce(e,t,n,o,a){var s={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ue,__v:a||++Ut,__i:-1,__u:0};return!a&&R.vnode&&R.vnode(s),s}function Ee(e){return e.children}function ke(e,t){this.props=e,this.context=t,this.__g=0}function Q(e,t){if(t==null)return e.__&&Q(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Q(e)}function lo(e){var t,n=e.__v,o=n.__e,a=[],s=[],r=e.__P;r&&((t=ee({constructor:ue},n)).__v=n.__v+1,R.vnode&&R.vnode(t),Ve(r,t,n,e.__n,r.namespaceURI,32&n.__u?[o]:null,a,o||Q(n),32&n.__u,s),t.__v=n.__v,t.__.__k[t.__i]=t,Qt(a,t,s),n.__=n.__e=null,t.__e!=o&&Kt(t))}function Kt(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Kt(e)}function It(e){(8&e.__g||(e.__g|=8,z.push(e),Se++))&&Ue==R.debounceRendering||((Ue=R.debounceRendering)||queueMicrotask)(Vt)}function Vt(){try{for(var e,t=1;z.length;)z.length>t&&z.sort(Bt),e=z.shift(),t=z.length,8&e.__g&&lo(e)}finally{(Se=z.length)&&(Ue||queueMicrotask)(Vt)}}function Jt(e,t,n,o,a,s,r,i,d,u,l){var f,_,p,m,h,g,v=o.__k||Ce,w=t.length;for(d=co(n,t,v,d,w),f=0;f<w;f++)(p=n.__k[f])!=null&&(_=~p.__i&&v[p.__i]||Te,p.__i=f,g=Ve(e,p,_,a,s,r,i,d,u,l),m=p.__e,(_.ref!=p.ref||8&_.__u)&&(_.ref&&Je(_.ref,null,p,_),p.ref&&l.push(p.ref,p.__c||m,p)),h=h||m,4&p.__u?(d=Gt(p,d,e,!_.__v),_.__e&&(_.__e=null)):typeof p.type=="function"&&g!==void 0?d=g:m&&(d=m.nextSibling),p.__u&=-21);return n.__e=h,d}function co(e,t,n,o,a){var s,r,i,d,u,l,f,_,p,m=n.length,h=m,g=0,v=0,w=e.__k=Array(a);for(s=0;s<a;s++)(r=t[s])!=null&&typeof r!="boolean"&&typeof r!="function"?(typeof r!="object"||r.constructor===String?r=w[s]=ce(null,r):We(r)?r=w[s]=ce(Ee,{children:r}):r.constructor===ue&&r.__b?r=w[s]=ce(r.type,r.props,r.key,r.ref,r.__v):w[s]=r,d=s+g,r.__=e,r.__b=e.__b+1,i=null,~(u=r.__i=uo(r,n,d,h))&&(h--,(i=n[u])&&(i.__u|=2)),i&&i.__v?(r.__u|=16,u==d-1?g--:u==d+1?g++:u!=d&&(u>d?g--:g++,v=1)):(~u||(a>m?g--:a<m&&g++),typeof r.type!="function"&&(r.__u|=4))):w[s]=null;if(v){for(l=[],f=[],s=0;s<a;s++)if((r=w[s])&&16&r.__u){for(g=0,_=l.length;g<_;)l[p=g+_>>1]<r.__i?g=p+1:_=p;l[g]=r.__i,f[s]=g+1}for(g=l.length;s--;)f[s]&&(f[s]==g?g--:w[s].__u|=4)}if(h)for(s=0;s<m;s++)!(i=n[s])||2&i.__u||(i.__e==o&&(o=Q(i)),Ge(i,i));return o}function Gt(e,t,n,o){var a,s,r,i;if(typeof e.type=="function"){if(e.props.__P)return t;if(a=e.__k)for(s=0;s<a.length;s++)a[s]&&(a[s].__=e,t=Gt(a[s],t,n,!1));return t}for(t&&!t.parentNode&&(t=Q(e))&&!t.parentNode&&(t=null),r=e.__e,i=t;i&&i.nodeType==8;)i=i.nextSibling;for(r!=i&&(!o&&n.moveBefore&&r.parentNode?n.moveBefore(r,t):n.insertBefore(r,t||null)),t=r;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function uo(e,t,n,o){var a,s=e.key,r=e.type,i=t[n],d=i&&!(2&i.__u);if(i===null&&s==null||d&&s==i.key&&r==i.type)return n;if(o>(d?1:0)){for(a=n-1;a>=0;a--)if((i=t[a])&&!(2&i.__u)&&s==i.key&&r==i.type)return a;for(a=n+1;a<t.length;a++)if((i=t[a])&&!(2&i.__u)&&s==i.key&&r==i.type)return a}return-1}function Ft(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function ve(e,t,n,o,a){var s,r;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Ft(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Ft(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(r=Be[t]||(Be[t]=po(t)),(e.__a||(e.__a={}))[t]=He,s=t!=(t=t.replace(Ht,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,r,s):e.removeEventListener(t,r,s));else{if(a=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function po(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[we]==null)t[we]=He++;else if(t[we]<this.__a[e])return;return n(R.event?R.event(t):t)}}}function Ve(e,t,n,o,a,s,r,i,d,u){var l,f,_,p,m,h,g,v,w,b,$,k,S,A,E,U,q,B,H=t.type;if(t.constructor!==ue)return null;128&n.__u&&(d=32&n.__u,l=n.__c.__z)&&(t.__u|=d,f=s=[],l.nodeType==8?i=xe(l,s):s.push(l),i=s[0]||i),(l=R.__b)&&l(t);e:if(typeof H=="function"){_=r.length;try{if(v=t.props,w=(l=H.prototype)&&l.render,b=(l=H.contextType)&&o[l.__c],$=l?b?b.props.value:l.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(w?t.__c=p=new H(v,$):(t.__c=p=new ke(v,$),p.constructor=H,p.render=_o),b&&b.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),w&&(p.__s||(p.__s=p.state),H.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=ee({},p.__s)),ee(p.__s,H.getDerivedStateFromProps(v,p.__s)))),m=p.props,h=p.state,p.__v=t,n.__c){if(v!==m&&w&&!H.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(v,$),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(v,p.__s,$)===!1){t.__v!=n.__v&&(p.props=v,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(O){O&&(O.__=t)}),Ce.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&r.push(p),i=Q(n);break e}p.componentWillUpdate&&p.componentWillUpdate(v,p.__s,$),w&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(m,h,g)})}else w&&!H.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),w&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=$,p.props=v,p.__P=e,p.__g&=-5,k=R.__r,S=w?25:0;do p.__g&=-9,k&&k(t),l=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++S<25);w&&(Ce.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=ee({},o,p.getChildContext())),w&&n.__c&&p.getSnapshotBeforeUpdate&&(g=p.getSnapshotBeforeUpdate(m,h)),A=l&&l.type===Ee&&l.key==null?l.props.children:l,v.__P&&(l=i,a=(e=v.__P).namespaceURI,d=s=null,n.props&&n.props.__P!=e&&(n.__k.some(function(O){O&&Ge(O,O)}),n.__k=null),i=n.__k?Q(n,0):null),i=Jt(e,We(A)?A:[A],t,n,o,a,s,r,i,d,u),v.__P&&(t.__e=null,i=l),t.__u&=-161,f&&f.some(Z),p.__h.length&&r.push(p),1&p.__g&&(p.__g&=-4)}catch(O){if(r.length=_,t.__v=null,d||s)if(O&&O.then){if(t.__u|=128|d,s){for(~(q=s.indexOf(i||void 0))||(q=s.length);(B=s[q-1])&&B.nodeType==8;)q--;for(;q<s.length;q++)if(B=s[q])if(s[q]=null,E){if(B==U)break}else{if(B.nodeType!=8)break;B.data.startsWith("$s")&&(U=xe(E=B))}}if(!E){for(;i&&i.nodeType==8&&i.nextSibling;)i=i.nextSibling;E=i}(l=xe(E=t.__c.__z||(t.__c.__z=E)))?(t.__e=E,i=l):t.__e=i,i=i&&i.nextSibling}else s&&s.some(Z);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),O&&O.then||zt(t),R.__e(O,t,n)}}else i=t.__e=fo(n.__e,t,n,o,a,s,r,d,u,e);return(l=R.diffed)&&l(t),i}function xe(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function zt(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(zt))}function Qt(e,t,n){for(var o=0;o<n.length;)Je(n[o++],n[o++],n[o++]);R.__c&&R.__c(t,e),e.some(function(a){try{e=a.__h,a.__h=[],e.some(function(s){s.call(a)})}catch(s){R.__e(s,a.__v)}})}function fo(e,t,n,o,a,s,r,i,d,u){var l,f,_,p,m,h,g,v,w=n.props||Te,b=t.props,$=t.type;if($=="svg"?a="http://www.w3.org/2000/svg":$=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),s){for(l=0;l<s.length;l++)if((m=s[l])&&($?m.localName==$:m.nodeType==3)){e=m,s[l]=null;break}}if(!e){if(v=u.ownerDocument||document,!$)return v.createTextNode(b);e=v.createElementNS(a,$,b.is?b:u),i&&(R.__m&&R.__m(t,s),i=!1),s=null}if($){if(u=$=="template"&&e.content||e,s=$=="textarea"&&b.defaultValue!=null?null:s&&Ke.call(u.childNodes),!i&&s)for(w={},l=0;l<e.attributes.length;l++)w[(m=e.attributes[l]).name]=m.value;for(l in w)m=w[l],l=="dangerouslySetInnerHTML"?_=m:l=="children"||l in b||l=="value"&&"defaultValue"in b||l=="checked"&&"defaultChecked"in b||ve(e,l,null,m,a);for(l in b)m=b[l],l=="children"?p=m:l=="dangerouslySetInnerHTML"?f=m:l=="value"?h=m:l=="checked"?g=m:i&&typeof m!="function"||w[l]===m||ve(e,l,m,w[l],a);f?(i||_&&(f.__html==_.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(_&&(e.textContent=""),($=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&io.test($))&&(a="http://www.w3.org/1999/xhtml"),Jt(u,We(p)?p:[p],t,n,o,a,s,r,s?s[0]:n.__k&&Q(n,0),i,d),s&&s.some(Z)),i&&$!="textarea"||(l="value",$=="progress"&&h==null?e.removeAttribute(l):h==null||h===e[l]&&($!="progress"||h)||ve(e,l,h,w[l],a),l="checked",g!=null&&g!=e[l]&&ve(e,l,g,w[l],a))}else w===b||i&&e.data==b||(e.data=b);return e}function Je(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(a){R.__e(a,n)}}function Ge(e,t,n){var o,a,s,r;if(R.unmount&&R.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Je(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(i){R.__e(i,t)}o.__P=o.__n=null}if(o=e.__k)for(r=0;r<o.length;r++)o[r]&&Ge(o[r],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(a=xe(o,s=[]))&&(o==e.__e&&s.some(Z),Z(a),Z(o)),n||Z(e.__e),e.__e=e.__c=e.__=null}function _o(e,t,n){return this.constructor(e,n)}function Yt(e,t){var n,o,a,s;R.__&&R.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ce(Ee,{children:[e]}),a=[],s=[],Ve(t,t.__k,o||Te,Te,t.namespaceURI,o?null:t.firstChild?Ke.call(t.childNodes):null,a,o?o.__e:t.firstChild,n,s),Qt(a,t.__k,s),t.__k.props.children=null}R={__e:function(e,t,n,o){for(var a,s,r;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((r=(s=a.constructor)&&s.getDerivedStateFromError)&&a.setState(s.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,o||{}),r=1),r&&8&a.__g)return void(a.__g|=2)}catch(i){e=i}}throw Se=0,e}},Ut=0,ro=function(e){return e!=null&&e.constructor===ue},ke.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=ee({},this.state)),typeof e=="function"&&(e=e(ee({},n),this.props)),e&&(ee(n,e),this.__v&&(t&&this.__k.push(t),It(this)))},ke.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),It(this))},ke.prototype.render=Ee,z=[],Se=0,Bt=function(e,t){return e.__v.__b-t.__v.__b},we=Symbol(),Ht=/(PointerCapture)$|Capture$/i,He=0,Be={},ao=0;var pe,N,ze,Xt,Qe=Object.is,fe=0,ln=[],Ye=[],M=R,Zt=M.__b,en=M.__r,tn=M.diffed,nn=M.__c,on=M.unmount,sn=M.__;function Ze(e,t){M.__h&&M.__h(N,e,fe||t),fe=0;var n=N.__H||(N.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function x(e){return fe=1,mo(un,e)}function mo(e,t,n){var o=Ze(pe++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):un(void 0,t),function(s){var r=(o.__N||o.__)[0],i=o.t(r,s);Qe(r,i)||(o.__N=[i,o.__[1]],o.__c.setState({}))}],o.__c=N,!N.__f)){N.__f=!0;var a=N.shouldComponentUpdate;N.shouldComponentUpdate=function(s,r,i){var d=this.__H;if(!d)return!0;var u=!1,l=this.props!=s;if(d.__.some(function(_){_.__N&&(u=!0,Qe(_.__[0],_.__N[0])||(l=!0))}),a){var f=a.call(this,s,r,i);return u?f||l:f}return!u||l}}return o.__}function P(e,t){var n=Ze(pe++,3);!M.__s&&cn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,N.__H.__h.push(n))}function C(e){return fe=5,oe(function(){return{current:e}},[])}function oe(e,t){var n=Ze(pe++,7);return cn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Oe(e,t){return fe=8,oe(function(){return e},t)}function ho(){var e;do{for(;e=Ye.shift();)try{de(e)}catch(n){M.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=ln.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(de),t.__h.some(Xe),t.__h=[]}catch(n){t.__h=[],M.__e(n,e.__v)}}}while(Ye.length)}M.__b=function(e){N=null,Zt&&Zt(e)},M.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),sn&&sn(e,t)},M.__r=function(e){en&&en(e),pe=0;var t=(N=e.__c).__H;t&&(ze==N?N.__h=[]:(t.__h.some(de),t.__h.some(Xe),pe=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),ze=N},M.diffed=function(e){tn&&tn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&an(ln.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),ze=N=null},M.__c=function(e,t){t.some(function(n){try{n.__h.some(de),n.__h=n.__h.filter(function(o){return!o.__||Xe(o)})}catch(o){n.__h=[function(){throw o}]}}),nn&&nn(e,t)},M.unmount=function(e){on&&on(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(a){try{if(a.__P&&a.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}a.__P=n,an(Ye.push(a))}else de(a)}catch(s){t=s}}),o.__H=void 0,t&&M.__e(t,o.__v))};var rn=typeof requestAnimationFrame=="function";function $o(e){var t,n=function(){clearTimeout(o),rn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);rn&&(t=requestAnimationFrame(n))}function an(e){e!=1&&Xt==M.requestAnimationFrame||((Xt=M.requestAnimationFrame)||$o)(ho)}function de(e){var t=N,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),N=t}function Xe(e){var t=N;e.__c=e.__(),N=t}function cn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!Qe(n,e[o])})}function un(e,t){return typeof t=="function"?t(e):t}var pn=function(e,t,n,o){var a;t[0]=0;for(var s=1;s<t.length;s++){var r=t[s++],i=t[s]?(t[0]|=r?1:2,n[t[s++]]):t[++s];r===3?o[0]=i:r===4?o[1]=Object.assign(o[1]||{},i):r===5?(o[1]=o[1]||{})[t[++s]]=i:r===6?o[1][t[++s]]+=i+"":r?(a=e.apply(i,pn(e,i,n,["",null])),o.push(a),i[0]?t[0]|=2:(t[s-2]=0,t[s]=a)):o.push(i)}return o},dn=new Map;function fn(e){var t=dn.get(this);return t||(t=new Map,dn.set(this,t)),(t=pn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,a,s=1,r="",i="",d=[0],u=function(_){s===1&&(_||(r=r.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?d.push(0,_,r):s===3&&(_||r)?(d.push(3,_,r),s=2):s===2&&r==="..."&&_?d.push(4,_,0):s===2&&r&&!_?d.push(5,0,!0,r):s>=5&&((r||!_&&s===5)&&(d.push(s,0,r,a),s=6),_&&(d.push(s,_,0,a),s=6)),r=""},l=0;l<n.length;l++){l&&(s===1&&u(),u(l));for(var f=0;f<n[l].length;f++)o=n[l][f],s===1?o==="<"?(u(),d=[d],s=3):r+=o:s===4?r==="--"&&o===">"?(s=1,r=""):r=o+r[0]:i?o===i?i="":r+=o:o==='"'||o==="'"?i=o:o===">"?(u(),s=1):s&&(o==="="?(s=5,a=r,r=""):o==="/"&&(s<5||n[l][f+1]===">")?(u(),s===3&&(d=d[0]),s=d,(d=d[0]).push(2,0,s),s=0):o===" "||o==="	"||o===`
`||o==="\r"?(u(),s=2):r+=o),s===3&&r==="!--"&&(s=4,d=d[0])}return u(),d})(e)),t),arguments,[])).length>1?t:t[0]}var c=fn.bind(Wt),et=()=>requestAnimationFrame(()=>{document.activeElement===document.body&&matchMedia("(pointer: fine)").matches&&document.getElementById("question")?.focus({preventScroll:!0})});var tt="anabranch.draft",nt={set:e=>sessionStorage.setItem(tt,e),take:()=>{let e=sessionStorage.getItem(tt)??"";return sessionStorage.removeItem(tt),e}};function _n({ask:e,busy:t,goesOn:n,tip:o}){let a=C();P(()=>{a.current.value||=nt.take()},[]);let s=i=>{i.preventDefault();let d=a.current.value.trim();!d||t||(a.current.value="",e(d))},r=i=>{i.key==="Enter"&&!i.shiftKey&&!i.isComposing&&s(i)};return c`<form class="composer" onSubmit=${s}>
    ${o&&c`<p class="faint">Your next question goes on from the answer above.</p>`}
    <label class="hidden" for="question">Question</label>
    <textarea id="question" dir="auto" maxlength="10000" ref=${a} rows="2" placeholder=${n?"Ask a follow-up question":"Ask a question"} required onKeyDown=${r}></textarea>
    <button disabled=${t}>Ask</button>
  </form>`}var ot="anabranch.key",_e=class extends Error{constructor(t,n,o=""){super(n),this.status=t,this.type=o}},De=e=>["CorpusNotFoundError","CorpusEmptyError"].includes(e.type),mn=()=>{};function hn(e){mn=e}var te={get:()=>sessionStorage.getItem(ot),set:e=>sessionStorage.setItem(ot,e),clear:()=>sessionStorage.removeItem(ot)};async function V(e,{method:t="GET",body:n,headers:o={},signal:a}={}){let s=te.get(),r=n instanceof FormData,i=await go(e,{method:t,signal:a,headers:{...n===void 0||r?{}:{"Content-Type":"application/json"},...s?{Authorization:`Bearer ${s}`}:{},...o},body:n===void 0||r?n:JSON.stringify(n)});if(i.status===401&&mn(),!i.ok)throw await bo(i);return i}async function go(e,t){try{return await fetch(e,t)}catch(n){throw n.name==="AbortError"?n:new Error("The server does not answer. See that it runs, and try again.")}}async function D(e,t){let n=await V(e,t);return n.status===204?null:n.json()}var J=(e,t)=>D(e,{method:"POST",body:t});async function bo(e){let t=`The server answered ${e.status}.`,n="";try{let{detail:a,error:s}=await e.json();t=typeof a=="string"?a:JSON.stringify(a),n=s?.type??""}catch{}let o=e.headers.get("Retry-After");return new _e(e.status,o?`${t} (${yo(o)})`:t,n)}function yo(e){let t=/^\d+$/.test(e)?Number(e):Math.max(0,Math.round((new Date(e)-Date.now())/1e3));return t>=90?`Try again after ${new Date(Date.now()+t*1e3).toLocaleString([],{dateStyle:"medium",timeStyle:"short"})}.`:`Try again in ${t||1} s.`}async function*st(e){let t=e.body.pipeThrough(new TextDecoderStream).getReader(),n="",o={};try{for(;;){let{done:a,value:s}=await t.read();if(a)return;let r=(n+s).split(/\r?\n/);n=r.pop();for(let i of r){let d=i.indexOf(":");if(i==="")o.data!==void 0&&(yield{...o,data:JSON.parse(o.data)}),o={};else if(d>0){let u=i.slice(0,d),l=i.slice(d+1).replace(/^ /,"");o[u]=u==="data"&&o.data!==void 0?`${o.data}
${l}`:l}}}}finally{t.cancel().catch(()=>{})}}var vo=8,wo=e=>new Promise(t=>setTimeout(t,e));async function $n(e,t,n,{onEvent:o,onLost:a,signal:s}){let r=null;for(let i=0;i<vo;i+=1){try{n??=await V(`/threads/${e}/runs/${t}/stream`,{signal:s,headers:r===null?{}:{"Last-Event-ID":r}});for await(let u of st(n)){if(i=0,r=u.id??r,u.event==="end")return;u.event==="metadata"&&(t=u.data.run_id??t),o(u)}let{status:d}=await D(`/threads/${e}/runs/${t}`,{signal:s});if(d!=="pending"&&d!=="running")return}catch(d){if(s?.aborted||d instanceof _e)throw d}n=null,a(),await wo(Math.min(250*2**i,5e3))}throw new _e(0,"The connection to the server is lost. Reload the page to read on.")}var re=e=>e.checkpoint?.checkpoint_id??e.checkpoint_id??null,se=e=>e.parent_checkpoint?.checkpoint_id??null;async function ae(e,t){let n=(await Ae(e,{source:"input"})).reverse(),o=new Map(n.map(d=>[re(d),d])),a=d=>o.has(se(d))?null:se(d),s=[],r=t?await rt(e,t):await xo(e,n);for(;r;){let d=await ko(e,r,n);if(!d)break;let u=a(d),l=n.filter(f=>a(f)===u&&(u!==null||i(f)));(r.next??[]).includes("__start__")||s.unshift({run:d.metadata.run_id,ended:r.metadata.run_id,values:r.values,checkpoint:re(r),base:u??re(l[0]??d),versions:[...new Set(l.map(f=>f.metadata.run_id))],unfinished:(r.next??[]).length>0,pause:gn(r)}),r=u===null?null:await rt(e,u)}return s;function i(d){return se(d)===null||o.has(se(d))}}var Re=(e,t)=>!!e&&[e.run,e.ended].includes(t),gn=e=>(e.interrupts??(e.tasks??[]).flatMap(t=>t.interrupts??[]))[0]?.value??null,Ae=(e,t,n=1e3)=>J(`/threads/${e}/history`,{limit:n,metadata:t});async function ko(e,t,n){for(;;){let o=t.metadata?.run_id,a=n.findLast(r=>r.metadata?.run_id===o),s=a?null:await bn(e,o);if(!s)return a;t=await rt(e,s)}}var bn=async(e,t)=>se((await Ae(e,{run_id:t})).at(-1)??{}),rt=(e,t)=>D(`/threads/${e}/state/${t}`);async function xo(e,t){return t.length?D(`/threads/${e}/state`):null}async function yn(e,t){let n=(await Ae(e,{source:"input"})).reverse();for(;;){let[o]=await Ae(e,{run_id:t},1);if(!o)return null;let s=n.findLast(r=>se(r)===re(o))?.metadata.run_id??(gn(o)&&await So(e,re(o),n));if(!s)return re(o);t=s}}async function So(e,t,n){let o=new Set(n.map(a=>a.metadata.run_id));for(let{run_id:a}of await D(`/threads/${e}/runs?limit=1000`))if(!o.has(a)&&await bn(e,a)===t)return a;return null}function vn(e,t){let n=[`# ${e}`];for(let{values:o}of t){n.push(`## ${o.original_question}`,o.answer||"*No answer.*");for(let a of Eo(o.citations??[])){let s=a.page?`, page ${a.page}`:"";n.push(`[${a.marker}] ${a.title||a.source}${s} (${a.grade})
> ${a.quote.replace(/\n/g,`
> `)}`)}}return`${n.join(`

`)}
`}var wn=(e,t,n)=>`${JSON.stringify({title:e,thread_id:t,turns:n.map(Co)},null,2)}
`,To=["answer","abstained","citations","unsupported","verification","degraded","queries","evidence","route","candidates","passages","usage","trace"],Co=({ended:e,values:t})=>({run_id:e,question:t.original_question,...Object.fromEntries(To.filter(n=>n in t).map(n=>[n,t[n]]))});function Eo(e){let t=new Map;for(let n of e)t.has(n.marker)||t.set(n.marker,n);return[...t.values()].sort((n,o)=>n.marker-o.marker)}var Pe=/\[(\d{1,4})\](?!\()/g;var it="\uE000(\\d+)\\.(\\d+)\uE001",at=e=>e.replace(/[^\p{L}\p{N}]+/gu,"").toLowerCase();function kn(e,t){let n=e.replaceAll("\uE000","").replaceAll("\uE001",""),o=at(n.replace(Pe," ")),a=0,s=t.map(d=>{let u=at(d.claim.replace(Pe," ")),l=o.indexOf(u,a)>=0?o.indexOf(u,a):o.indexOf(u);return l<0?null:(a=l,l+u.length)}),r=[];return{numbered:n.replace(Pe,(d,u,l)=>{let f=at(n.slice(0,l).replace(Pe," ")).length,p=t.map((m,h)=>({each:m,away:Math.abs((s[h]??1/0)-f)})).filter(({each:m})=>m.marker===Number(u)).sort((m,h)=>m.away-h.away);return r.push(p[0]?.each),`\uE000${u}.${r.length-1}\uE001`}),places:r}}var lt=e=>e.replace(new RegExp(it,"g"),"[$1]");var qe=/^\s*(```|~~~)/,xn=/^(#{1,6})\s+(.*)$/,ie=/^(\s*)([-*+]|\d+[.)])\s+(.*)$/,ct=/^\s*\|(.+)\|\s*$/,Le=/^\s*(?:>\s?)+(.*)$/,Oo=/^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/,Do=new RegExp(String.raw`(\`[^\`\n]+\`)|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\n]+)\*(?!\w)|${it}|!?\[([^\]\n]*)\]\([^)\s]*\)`,"g");function dt(e,t,n=o=>o){let o=r=>ut(r,t,n),a=e.split(`
`),s=[];for(let r=0;r<a.length;){let i=r,d=f=>{for(;r<a.length&&f(a[r]);)r+=1;return a.slice(i,r)},u=a[r],l=xn.exec(u);if(!u.trim())r+=1;else if(qe.test(u)){for(r+=1;r<a.length&&!qe.test(a[r]);)r+=1;s.push(c`<pre tabindex="0"><code>${lt(a.slice(i+1,r).join(`
`))}</code></pre>`),r+=1}else if(l)r+=1,s.push(l[1].length>2?c`<h4 dir="auto">${o(l[2])}</h4>`:c`<h3 dir="auto">${o(l[2])}</h3>`);else if(ct.test(u)&&Oo.test(a[r+1]??""))s.push(Ro(d(f=>ct.test(f)),o));else if(Le.test(u)){let f=d(_=>Le.test(_)).map(_=>Le.exec(_)[1]);s.push(c`<blockquote>${dt(f.join(`
`),t,n)}</blockquote>`)}else if(ie.test(u)){let f=d(_=>ie.test(_)||/^\s+\S/.test(_)&&!qe.test(_));s.push(Sn(f,o))}else{let f=d(_=>_.trim()&&!qe.test(_)&&!xn.test(_)&&!ie.test(_)&&!Le.test(_));s.push(c`<p dir="auto">${o((f.length?f:[a[r++]]).join(`
`))}</p>`)}}return s}var Ao=6;function Sn(e,t,n=1){let o=[],a=ie.exec(e[0]);for(let r of e){let i=ie.exec(r);i&&i[1].length<=a[1].length?o.push({text:i[3],inner:[]}):o.at(-1).inner.push(r.slice(a[1].length))}let s=o.map(({text:r,inner:i})=>c`<li>
        ${t(r)}
        ${i.length>0&&(ie.test(i[0])&&n<Ao?Sn(i,t,n+1):c` ${t(i.map(d=>d.trim()).join(" "))}`)}
      </li>`);return/\d/.test(a[2])?c`<ol dir="auto" start=${parseInt(a[2],10)}>${s}</ol>`:c`<ul dir="auto">${s}</ul>`}function Ro(e,t){let n=s=>ct.exec(s)[1].split(/(?<!\\)\|/).map(r=>t(r.trim())),[o,,...a]=e;return c`<div class="wide" tabindex="0" role="region" aria-label="Table">
    <table>
      <thead><tr>${n(o).map(s=>c`<th scope="col" dir="auto">${s}</th>`)}</tr></thead>
      <tbody>${a.map(s=>c`<tr>${n(s).map(r=>c`<td dir="auto">${r}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`}function ut(e,t,n){let o=[],a=0;for(let s of e.matchAll(Do)){let[r,i,d,u,l,f,_]=s;s.index>a&&o.push(n(e.slice(a,s.index))),a=s.index+r.length,i?o.push(c`<code>${lt(i.slice(1,-1))}</code>`):d?o.push(c`<strong>${ut(d,t,n)}</strong>`):u?o.push(c`<em>${ut(u,t,n)}</em>`):l?o.push(t(Number(l),Number(f))):o.push(_)}return a<e.length&&o.push(n(e.slice(a))),o}var le={quoted:"Quoted: the words stand in the document",supported:"Supported: the document says so in other words",unsupported:"Unsupported: no passage says so",contradicted:"Contradicted by the document"},Po=200,pt=e=>`${e.title||e.source}${e.page?`, page ${e.page}`:""}`;function Cn({text:e,citations:t,verification:n,unsupported:o,busy:a,open:s,shown:r}){let[i,d]=x(null),u=C(),l=C(!1),f=()=>clearTimeout(u.current),_=()=>{f(),u.current=setTimeout(()=>d(null),Po)},p=(b,$)=>{f(),d({cite:b,element:$})};P(()=>f,[]);let m=b=>En(b,n)?"contradicted":b.grade,{numbered:h,places:g}=oe(()=>kn(e,t),[e,t]);return c`<div class="answer" aria-busy=${a?"true":"false"}>
    ${dt(h,(b,$)=>{let k=g[$];if(!k)return c`<span class="marker">${b}</span>`;let S=m(k),A=i?.cite===k;return c`<button
      type="button"
      class=${`marker ${S}`}
      aria-label=${`Source ${b}, ${S}: ${pt(k)}`}
      aria-describedby=${A?"card":void 0}
      aria-pressed=${r===k.chunk_id+k.start?"true":"false"}
      onPointerEnter=${E=>E.pointerType!=="touch"&&p(k,E.currentTarget)}
      onPointerLeave=${E=>E.pointerType!=="touch"&&_()}
      onPointerDown=${E=>l.current=E.pointerType==="touch"&&!A}
      onFocus=${E=>p(k,E.currentTarget)}
      onBlur=${_}
      onKeyDown=${E=>E.key==="Escape"&&i&&(E.preventDefault(),d(null))}
      onClick=${E=>{if(l.current)return void(l.current=!1)||p(k,E.currentTarget);d(null),s(k,E.currentTarget)}}
    >${b}</button>`},b=>On(b,o,ft(n)))}
    ${i&&c`<${qo} ...${i} grade=${m(i.cite)} onEnter=${f} onLeave=${_}
      open=${()=>{d(null),s(i.cite,i.element)}} />`}
  </div>`}var ft=e=>new Set((e.contradicted??[]).map(t=>t.claim));function En(e,t){return e.judged==="contradicted"||ft(t).has(e.claim)}var Tn="[?]";function On(e,t,n){let o=e.indexOf(Tn);if(o<0)return e;let a=e.slice(0,o).trimEnd(),[s=""]=t.filter(i=>i&&a.endsWith(i)).sort((i,d)=>d.length-i.length),r=n.has(s)?"contradicted":"unsupported";return[a.slice(0,a.length-s.length),s&&c`<span class="unsupported" title=${le[r]}>${s}</span>`,c` <span class=${`marker ${r}`} title=${le[r]}>${r==="contradicted"?"!":"?"}<span class="hidden"> ${le[r]}</span></span>`,On(e.slice(o+Tn.length),t,n)]}function qo({cite:e,element:t,grade:n,open:o,onEnter:a,onLeave:s}){let r=C();return P(()=>{let i=t.getBoundingClientRect(),d=r.current,u=Math.max(8,Math.min(i.left,document.documentElement.clientWidth-d.offsetWidth-8)),l=i.top-d.offsetHeight-6;d.style.left=`${u}px`,d.style.top=`${l>8?l:i.bottom+6}px`;let f=()=>s();return addEventListener("scroll",f,!0),()=>removeEventListener("scroll",f,!0)},[t]),c`<div ref=${r} id="card" role="tooltip" class="card" onPointerEnter=${a} onPointerLeave=${s}>
    <strong dir="auto">${pt(e)}</strong>
    ${e.heading&&c`<span class="faint" dir="auto">${e.heading}</span>`}
    <blockquote dir="auto">${e.quote}</blockquote>
    <span class=${`grade ${n}`}>${le[n]}</span>
    <button type="button" class="plain" tabindex="-1" onClick=${o}>Show it in the document</button>
  </div>`}function Dn({citations:e,verification:t,unsupported:n,open:o}){let a=ft(t),s=n.filter(m=>!a.has(m)),{claims:r=0,quoted:i=0,supported:d=0,missing:u=[],contradicted:l=[],checked:f=""}=t;if(!r&&!n.length)return null;let _=[...e.map(m=>({...m,grade:En(m,t)?"contradicted":m.grade})),...l.filter(m=>!e.some(h=>h.claim===m.claim)).map(m=>({grade:"contradicted",claim:m.claim,quote:m.quote??m.evidence??""})),...s.map(m=>({grade:"unsupported",claim:m}))],p=[[i,"quoted"],[d,"supported"],[(t.unsupported??n.length)-(n.length-s.length),"unsupported"],[l.length,"contradicted"]].filter(([m,h])=>m>0||h==="unsupported");return c`<details class="claims">
    <summary>
      ${r} ${r===1?"claim":"claims"}:
      ${p.map(([m,h])=>c` <span class=${`grade ${h} ${m?"":"none"}`}>${m} ${h}</span>`)}
    </summary>
    <ul>
      ${_.map(m=>c`<li>
          <span class=${`grade ${m.grade}`}>${m.grade}</span> <bdi>${m.claim.replaceAll("**","")}</bdi>
          ${m.quote&&c`<blockquote dir="auto">${m.quote}</blockquote>`}
          ${m.chunk_id&&c`<button type="button" class="plain" onClick=${h=>o(m,h.currentTarget)}>${pt(m)}</button>`}
        </li>`)}
    </ul>
    ${u.length>0&&c`<p class="faint">In no passage: ${u.join(", ")}.</p>`}
    ${f&&c`<p class="faint">${f}.</p>`}
  </details>`}function An({cite:e,close:t}){let[n,o]=x(null),[a,s]=x(null),[r,i]=x(""),d=C(),u=e.end>e.start?`start=${e.start}&end=${e.end}`:"";P(()=>{let f=new AbortController;return o(null),i(""),s(null),d.current?.focus(),D(`/passages/${encodeURIComponent(e.chunk_id)}?${u}`,{signal:f.signal}).then(_=>{o(_),s(_.page)}).catch(_=>f.signal.aborted||i(_.status===404?"This passage is not in the documents of this server any more, or comes from another retriever.":_.message)),()=>f.abort()},[e]);let l=/^https?:/.test(e.link??"")?e.link:null;return c`<aside class="source" aria-label="Source">
    <header>
      <h2 ref=${d} tabindex="-1" dir="auto">${e.title||e.source}</h2>
      <button type="button" class="icon" aria-label="Close the source" onClick=${t}>✕</button>
    </header>
    <p class="faint" dir="auto">${[n?.heading??e.heading,e.source].filter(Boolean).join(" \xB7 ")}</p>
    ${e.grade&&c`<p><span class=${`grade ${e.grade}`}>${le[e.grade]}</span></p>`}
    ${r&&c`<p role="alert">${r}</p>${e.quote&&c`<blockquote dir="auto">${e.quote}</blockquote>`}`}
    ${n&&a!==null&&c`<${_t} passage=${n} number=${a} setNumber=${s} span=${u} />`}
    ${n&&c`<section class="passage" aria-label="Text of the passage">
      <h3>Text of the passage</h3>
      <p dir="auto">${n.before}<mark>${n.quote}</mark>${n.after}</p>
    </section>`}
    ${l&&c`<p><a href=${l} target="_blank" rel="noopener noreferrer">Open the original</a></p>`}
  </aside>`}function _t({passage:e,number:t,setNumber:n,span:o}){let[a,s]=x(null),r=C(),i=`/documents/${encodeURIComponent(e.doc_id)}/pages/${t}`,d=`${i} ${e.chunk_id} ${o}`;P(()=>{let $=new AbortController,k=null;return(async()=>{let S=await D(`${i}/marks${e.chunk_id?`?chunk_id=${e.chunk_id}&${o}`:""}`,{signal:$.signal});if(!S.reason){let A=await V(`${i}.png`,{signal:$.signal});k=URL.createObjectURL(await A.blob())}if($.signal.aborted)return k&&URL.revokeObjectURL(k);s({...S,url:k,asked:d,doc:e.doc_id})})().catch(S=>$.signal.aborted||s({reason:"fault",told:S.message,asked:d})),()=>{$.abort(),k&&URL.revokeObjectURL(k)}},[d]);let u=a?.asked===d,l=c`<p class="faint" role="status">Page ${t} is being drawn.</p>`;if(u&&a.reason)return c`<p class="note">${a.told}</p>`;if(!u&&a?.doc!==e.doc_id)return l;let{width:f,height:_,boxes:p,on:m,pages:h,url:g}=a,v=!!(e.chunk_id&&o),w=m.filter($=>$!==t),b=p.length?"the quote is marked":"nothing is marked";return c`<figure>
    ${!u&&l}
    ${u&&c`<div class="sheet">
      <img src=${g} onLoad=${()=>r.current?.scrollIntoView({block:"nearest"})} alt=${`Page ${t} of ${e.title}${v?`; ${b}`:""}`} />
      <svg viewBox=${`0 0 ${f} ${_}`} preserveAspectRatio="none" aria-hidden="true">
        ${p.map(([$,k,S,A],E)=>c`<rect ref=${E===0?r:void 0} x=${$-1} y=${k-1} width=${S-$+2} height=${A-k+2} rx="1.5" />`)}
      </svg>
    </div>`}
    <figcaption>
      <button type="button" class="icon" aria-label="Previous page" disabled=${t<=1} onClick=${()=>n(t-1)}>‹</button>
      <span>Page ${t} of ${h}</span>
      <button type="button" class="icon" aria-label="Next page" disabled=${t>=h} onClick=${()=>n(t+1)}>›</button>
      ${u&&w.map($=>c`<button type="button" class="plain" onClick=${()=>n($)}>The quote is also on page ${$}</button>`)}
      ${v&&t!==e.page&&c`<button type="button" class="plain" onClick=${()=>n(e.page)}>Back to page ${e.page}</button>`}
    </figcaption>
    ${u&&v&&!m.length&&t===e.page&&c`<p class="note">The exact place was not found on the drawn page, so nothing is marked there.</p>`}
  </figure>`}var Lo=e=>e.split(",").map(t=>t.trim()).filter(Boolean);function mt(e,t){return e.name===null?{}:t===null?e.access.length?{}:{access:[]}:{access:t.everybody?[]:[...new Set([...t.tags,...Lo(t.others)])]}}function Rn({options:e,chosen:t,choose:n}){let o=t??{everybody:!e.access.length,tags:e.access,others:""},a=r=>n({...o,...r});if(!e.access.length&&!e.is_admin)return c`<p class="faint">Everybody will be able to read them.</p>`;let s=(r,i)=>a({tags:i?[...o.tags,r]:o.tags.filter(d=>d!==r)});return c`<fieldset class="access">
    <legend>Who may read them</legend>
    <label><input type="radio" name="access" checked=${!o.everybody} onChange=${()=>a({everybody:!1})} /> whoever has one of these access tags</label>
    <div>
      ${e.access.map(r=>c`<label><input type="checkbox" disabled=${o.everybody} checked=${o.tags.includes(r)} onChange=${i=>s(r,i.target.checked)} /> ${r}</label>`)}
      ${e.is_admin&&c`<label>others, with commas between them <input disabled=${o.everybody} value=${o.others} onInput=${r=>a({others:r.target.value})} /></label>`}
    </div>
    <label><input type="radio" name="access" checked=${o.everybody} onChange=${()=>a({everybody:!0})} /> everybody</label>
    <p class="faint">${t===null?"Files that are here already keep their tags.":"Files that are here already get these tags, too."}</p>
  </fieldset>`}var Mo={files:"Reading",passages:"Learning the passages",index:"Making the index"},ht=["failed","not sent"];function Pn({options:e,done:t}){let[n,o]=x(!1),[a,s]=x([]),[r,i]=x(null),[d,u]=x(""),[l,f]=x(null),_=C(),p=(b,$)=>s(k=>k.map(S=>S.name===b?{...S,...$}:S)),m=async b=>{let $=[];for(let k of b){let S=new FormData;S.append("files",k),p(k.name,{status:"being sent"});try{$.push(...(await D("/uploads",{method:"POST",body:S})).paths),p(k.name,{status:"sent"})}catch(A){if(p(k.name,{status:"not sent",reason:A.message}),A.status===401)throw A}}return $},h=async b=>{let $={assistant_id:"ingest",input:{paths:b,...mt(e,l)},stream_mode:["custom","values"]},k=null;for await(let S of st(await V("/runs/stream",{method:"POST",body:$}))){if(S.event==="error")throw new Error(S.data.message);S.event==="custom"&&(i(S.data),S.data.stage==="files"&&p(S.data.detail,{status:"being read"})),S.event==="values"&&S.data.files&&(k=S.data)}if(!k)throw new Error("The connection ended before the report came. The list below shows what was taken in.");return k},g=async b=>{if(!(!b.length||r)){u(""),i({stage:"sending"}),s(b.map(({name:$})=>({name:$,status:"waiting"})));try{let $=await m(b);if($.length){let k=await h($);s(S=>[...S.filter(A=>A.status==="not sent"),...k.files.map(A=>({...A,name:A.source}))])}}catch($){u($.message)}i(null),t()}},v=b=>{b.preventDefault(),o(!1),g([...b.dataTransfer.files])},w=l===null||l.everybody||mt(e,l).access?.length>0;return c`<section class=${`upload ${n?"over":""}`} aria-label="Add documents" onDragOver=${b=>(b.preventDefault(),o(!0))} onDragLeave=${()=>o(!1)} onDrop=${v}>
    <p>Drop files here, or <button type="button" class="plain" disabled=${!!r||!w} onClick=${()=>_.current.click()}>choose some</button>.</p>
    <input ref=${_} type="file" multiple hidden aria-label="Files to add" onChange=${b=>(g([...b.target.files]),b.target.value="")} />
    ${e.name!==null&&c`<${Rn} options=${e} chosen=${l} choose=${f} />`}
    ${d&&c`<p role="alert">${d}</p>`}
    ${r&&c`<${No} ...${r} files=${a} />`}
    <p class="hidden" role="status">${!r&&a.length>0&&qn(a)}</p>
    ${a.length>0&&c`<${jo} files=${a} isOver=${!r} />`}
  </section>`}function No({stage:e,done:t,total:n,files:o}){let a=o.filter(i=>i.status==="sent").length,[s,r]=e==="sending"?[a,o.length]:[t,n];return c`<p>${Mo[e]??"Sending"}${r>0&&` ${s} of ${r}`}</p>
    <progress aria-label="Progress" ...${r>0?{value:s,max:r}:{}} />`}function jo({files:e,isOver:t}){let n=t?[...e].sort((o,a)=>ht.includes(a.status)-ht.includes(o.status)):e;return c`${t&&c`<h3>${qn(e)}</h3>`}
    <ul class="report">
      ${n.map(({name:o,status:a,reason:s,notes:r,documents:i})=>c`<li class=${ht.includes(a)?"bad":""}>
          <strong><bdi>${o}</bdi></strong>: ${a}${i>1&&`, ${i} documents`}${s&&`, ${s}`}
          ${r?.length>0&&c`<br /><span class="faint">${r.join(" ")}</span>`}
        </li>`)}
    </ul>`}function qn(e){let t=new Map;for(let{status:n}of e)t.set(n,(t.get(n)??0)+1);return[...t].map(([n,o])=>`${o} ${n}`).join(", ")}var Ln=100;function Mn({options:e,isShown:t,close:n,changed:o}){let[a,s]=x([]),[r,i]=x(!1),[d,u]=x(""),[l,f]=x(""),[_,p]=x(null),[m,h]=x(""),g=C(),v=async $=>{u(""),f("");try{let k=await D(`/documents?limit=${Ln}&offset=${$.length}`);s([...$,...k]),i(k.length===Ln)}catch(k){s([]),i(!1),De(k)?f(k.message):u(k.message)}},w=()=>(o(),v([]));P(()=>{t&&(g.current.focus(),v([]))},[t]);let b=async $=>{g.current.focus();try{let{file:k,documents:S,deleted:A}=await D(`/documents/${encodeURIComponent($.doc_id)}`,{method:"DELETE"});h(`Removed ${k}${S>1?` with ${S} documents`:""}.${A?"":" The file itself stays where it is."}`),p(null),await w()}catch(k){h(k.message)}};return c`<aside class="documents" aria-label="Documents" hidden=${!t}>
    <header><h2 ref=${g} tabindex="-1">Documents</h2><button type="button" class="icon" aria-label="Close the documents" onClick=${n}>✕</button></header>
    ${e.may_ingest?c`<${Pn} options=${e} done=${w} />`:c`<p class="faint">To have documents added, ask whoever runs this server.</p>`}
    <p role="status">${m}</p>
    ${d&&c`<p role="alert">${d}</p>`}
    ${l&&c`<${$t} options=${e} told=${l} />`}
    ${_&&c`<h3 dir="auto">${_.title}</h3><${_t} passage=${{..._,page:1}} number=${_.number} setNumber=${$=>p({..._,number:$})} />`}
    <ul>${a.map($=>c`<${Io} key=${$.doc_id} document=${$} mayRemove=${e.may_ingest&&$.removable} remove=${b} show=${()=>p({...$,number:1})} />`)}</ul>
    ${r&&c`<button type="button" onClick=${()=>v(a)}>More</button>`}
  </aside>`}function $t({options:e,told:t}){return c`<p>There are no documents here yet. ${e.may_ingest?"Add some first.":"Ask whoever runs this server to add some."}</p>
    ${e.name===null&&c`<p class="faint">${t}</p>`}`}function Io({document:e,mayRemove:t,remove:n,show:o}){let[a,s]=x(!1),r=C(),i=()=>{s(!1),r.current.focus()},{title:d,source:u,file:l,pages:f,access:_,has_other_access:p}=e,m=[..._,...p?["others"]:[]];return c`<li>
    <div class="document">
      <div>
        ${f>0?c`<button type="button" class="plain" dir="auto" onClick=${o}>${d}</button>`:c`<span dir="auto">${d}</span>`}
        <br /><span class="faint"><bdi>${u}</bdi>${f>0&&`, ${f} ${f===1?"page":"pages"}`}</span>
        ${m.map(h=>c` <span class="tag">${h}</span>`)}
      </div>
      ${t&&c`<button ref=${r} type="button" class="plain danger" aria-label=${`Remove ${l}`} aria-expanded=${a?"true":"false"} onClick=${()=>s(!a)}>Remove</button>`}
    </div>
    ${a&&c`<div class="menu" role="group" aria-label=${`Remove ${l}?`}>
      <span>${l===u?"No question will find it any more.":c`This removes all documents of <bdi>${l}</bdi>.`}</span>
      <button type="button" class="plain danger" onClick=${()=>n(e)}>Remove for good</button>
      <button type="button" class="plain" onClick=${i}>Keep</button>
    </div>`}
  </li>`}var gt="anabranch.login",jn=e=>btoa(String.fromCharCode(...e)).replaceAll("+","-").replaceAll("/","_").replaceAll("=",""),Nn=()=>jn(crypto.getRandomValues(new Uint8Array(32))),bt=()=>location.origin+location.pathname;async function Fo({authorization_endpoint:e,client_id:t,scope:n}){if(!crypto.subtle)throw new Error("Signing in needs https.");let[o,a]=[Nn(),Nn()],s=await crypto.subtle.digest("SHA-256",new TextEncoder().encode(a));sessionStorage.setItem(gt,JSON.stringify({state:o,verifier:a,hash:location.hash}));let r=new URL(e),i={response_type:"code",client_id:t,scope:n,state:o,redirect_uri:bt(),code_challenge:jn(new Uint8Array(s)),code_challenge_method:"S256"};for(let[d,u]of Object.entries(i))r.searchParams.set(d,u);location.assign(r)}async function In(){let e=new URLSearchParams(location.search),[t,n,o]=["code","state","error"].map(s=>e.get(s));if(!n||!(t||o))return"";let a=JSON.parse(sessionStorage.getItem(gt)??"{}");if(sessionStorage.removeItem(gt),history.replaceState(null,"",bt()+(a.hash??"")),a.state!==n)return"This sign-in was not begun in this tab. Sign in again.";if(o)return`The sign-in was not completed: ${e.get("error_description")??o}`;try{return te.set((await D("/login",{method:"POST",body:{code:t,code_verifier:a.verifier,redirect_uri:bt()}})).token),""}catch(s){return s.message}}function Fn({enter:e,failed:t}){let[n,o]=x(t||(te.get()?"Your sign-in, or your key, does not count any more.":"")),[a,s]=x(null);P(()=>{D("/login").then(i=>i.issuer&&s(i),i=>o(i.message))},[]);let r=async i=>{i.preventDefault(),te.set(new FormData(i.currentTarget).get("key").trim()),o(""),await e(),o("This key is not known here.")};return c`<main class="login"><h1>Anabranch</h1>
    ${a&&c`<p><button type="button" onClick=${()=>Fo(a).catch(i=>o(i.message))}>Sign in at ${a.issuer}</button></p>`}
    <form onSubmit=${r}>
      <label for="key">${a?"Or your key":"Your key"}</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
      <button class=${a?"second":""}>Sign in</button>
      <p role="alert">${n}</p>
      <p class="faint">It is kept for as long as this tab is open.</p>
    </form></main>`}var yt=(e,t)=>({live:!0,question:e,text:"",run:t,message:null,error:null,lost:!1});function Un(e,{event:t,data:n}){let[o]=t.split("|");if(o==="metadata"){let a=n.run_id??e.run;return n.attempt>1?{...e,run:a,text:"",lost:!1}:{...e,run:a}}return o==="custom"&&n.status==="started"?{...e,step:n.step,lost:!1}:o==="custom"&&typeof n.answer=="string"?{...e,text:n.answer}:t==="messages"?Uo(e,n[0]):t==="error"?{...e,error:n.message??String(n.error)}:e}function Uo(e,t){if(!t.type?.startsWith("AI")&&t.type!=="ai")return e;let n=typeof t.content=="string"?t.content:(t.content??[]).map(a=>a.text??"").join(""),o=t.id===e.message&&t.type==="AIMessageChunk";return{...e,message:t.id,text:o?e.text+n:n,lost:!1}}var vt="anabranch.theme";function wt(){let e=localStorage.getItem(vt);e?document.documentElement.dataset.theme=e:delete document.documentElement.dataset.theme}function Bn(){let[e,t]=x(localStorage.getItem(vt)??"");return c`<div class="field">
    <label for="theme">Colours</label>
    <select id="theme" value=${e} onInput=${o=>{localStorage.setItem(vt,o.currentTarget.value),t(o.currentTarget.value),wt()}}>
      <option value="">as the system has them</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  </div>`}var kt="anabranch.settings",me=["model","strategy","rerank","synthesis","answer_form","verify","top_k","grade","review"];function Wn(){try{return JSON.parse(localStorage.getItem(kt))??{}}catch{return{}}}function Kn({fixed:e,values:t,onChange:n,close:o}){let[a,s]=x(null),[r,i]=x(""),d=C();P(()=>{d.current.focus(),Bo().then(({context_schema:f})=>s(Ho(f,e))).catch(f=>i(f.message))},[]);let u=(f,_)=>{let{[f]:p,...m}=t,h=_===void 0?m:{...m,[f]:_};localStorage.setItem(kt,JSON.stringify(h)),n(h)},l=f=>f.map(_=>c`<${Wo} key=${_.name} ...${_} value=${t[_.name]} change=${p=>u(_.name,p)} />`);return c`<aside class="settings" aria-label="Settings">
    <header><h2 ref=${d} tabindex="-1">Settings</h2><button type="button" class="icon" aria-label="Close the settings" onClick=${o}>✕</button></header>
    <${Bn} />
    <h3>Questions</h3>
    <p class="faint">They hold for the questions you ask from now on, in this browser. An empty field is as the server has it.</p>
    ${r&&c`<p role="alert">${r}</p>`}
    ${a&&c`${l(a.filter(f=>me.includes(f.name)))}
    <details><summary>All others</summary>${l(a.filter(f=>!me.includes(f.name)))}</details>
    <p><button type="button" onClick=${()=>{localStorage.removeItem(kt),n({})}}>Leave everything to the server</button></p>`}
  </aside>`}async function Bo(){let e=await J("/assistants/search",{graph_id:"answer"}),{assistant_id:t}=e.find(n=>n.graph_id==="answer");return D(`/assistants/${t}/schemas`)}function Ho(e,t){let n=r=>!t.includes(r)&&!r.endsWith("_prompt"),a=Object.entries(e.properties??{}).filter(([r])=>n(r)).map(([r,i])=>{let d=Hn(i,e),u=(d.anyOf??[d]).map(m=>Hn(m,e)).find(m=>m.type!=="null")??{},{type:l,minimum:f,maximum:_,exclusiveMinimum:p}=u;return{name:r,type:l,maximum:_,minimum:f??p,default:i.default,description:i.description??"",options:u.enum??d.enum??null}}),s=({name:r})=>me.includes(r)?me.indexOf(r):me.length;return a.sort((r,i)=>s(r)-s(i))}function Hn(e,t){let n=/^#\/\$defs\/(.+)$/.exec(e.$ref??"")?.[1];return n?{...t.$defs[n],...e}:e}function Wo({name:e,type:t,options:n,minimum:o,maximum:a,description:s,default:r,value:i,change:d}){let u=`setting-${e}`,l=m=>{if(m!=="")return t==="integer"||t==="number"?Number(m):t==="boolean"?m==="true":t==="array"?m.split(",").map(h=>h.trim()).filter(Boolean):m},f=n??(t==="boolean"?["true","false"]:null),_={id:u,"aria-describedby":`${u}-is`,onInput:m=>d(l(m.currentTarget.value))},p=r==null?"":` Usually ${Array.isArray(r)?r.join(", "):r}.`;return c`<div class="field">
    <label for=${u}>${e.replaceAll("_"," ")}</label>
    ${f?c`<select ...${_} value=${i===void 0?"":String(i)}>
          <option value="">as the server has it</option>
          ${f.map(m=>c`<option value=${m}>${m}</option>`)}
        </select>`:c`<input ...${_} type=${t==="integer"||t==="number"?"number":"text"} min=${o} max=${a}
          step=${t==="number"?"any":void 0} value=${Array.isArray(i)?i.join(", "):i??""} />`}
    <p id=${`${u}-is`} class="faint">${s}${p}</p>
  </div>`}var Me=e=>e.metadata?.title||"Untitled",Ko=10;function Vn({threads:e,hasMore:t,more:n,current:o,choose:a,begin:s,refresh:r}){let[i,d]=x(""),u=i.toLowerCase().split(/\s+/).filter(Boolean),l=e.filter(f=>u.every(_=>Me(f).toLowerCase().includes(_)));return c`<nav class="threads" aria-label="Conversations">
    <button id="new" type="button" class="new" onClick=${s}>New question</button>
    ${e.length>Ko&&c`<input class="search" type="search" dir="auto" aria-label="Find a conversation" placeholder="Find a conversation" value=${i} onInput=${f=>d(f.currentTarget.value)} />`}
    <ul>
      ${l.map(f=>c`<${Vo} key=${f.thread_id} thread=${f} isCurrent=${f.thread_id===o} choose=${a} begin=${s} refresh=${r} />`)}
    </ul>
    ${!e.length&&c`<p class="faint">Your conversations will be listed here.</p>`}
    ${e.length>0&&!l.length&&c`<p class="faint" role="status">None of the ${e.length} has these words in its title.</p>`}
    ${t&&c`<button type="button" class="plain" onClick=${n}>Older conversations</button>`}
  </nav>`}function Vo({thread:e,isCurrent:t,choose:n,begin:o,refresh:a}){let[s,r]=x(null),i=C(),d=C(),u=C(null);P(()=>{s==="delete"?d.current.focus():!s&&u.current&&i.current.focus(),u.current=s},[s]);let l=g=>g.key==="Escape"&&s&&(g.preventDefault(),r(null)),f=`/threads/${e.thread_id}`,_=Me(e),p=async g=>{g.preventDefault();let v=new FormData(g.currentTarget).get("title").trim();v&&await D(f,{method:"PATCH",body:{metadata:{title:v}}}),r(null),a()},m=async()=>{await D(f,{method:"DELETE"}),t&&o(),a(),document.getElementById("new").focus()},h=async g=>{let v=await ae(e.thread_id),w=g==="md"?vn(_,v):wn(_,e.thread_id,v),b=URL.createObjectURL(new Blob([w],{type:g==="md"?"text/markdown":"application/json"})),$=document.createElement("a");$.href=b,$.download=`${_.replace(/[^\p{L}\p{N} _-]/gu,"").slice(0,60)||"conversation"}.${g}`,$.click(),setTimeout(()=>URL.revokeObjectURL(b),1e4),r(null)};return s==="rename"?c`<li><form onSubmit=${p} onKeyDown=${l}>
      <label class="hidden" for="title">Title of the conversation</label>
      <input id="title" name="title" value=${_} maxlength="200" ref=${g=>g?.focus()} /> <button>Save</button>
    </form></li>`:c`<li class=${t?"current":""} onKeyDown=${l}>
    <button type="button" class="title" aria-current=${t?"true":void 0} dir="auto" onClick=${()=>n(e.thread_id)}><span>${_}</span></button>
    <button ref=${i} type="button" class="icon" aria-label=${`More about ${_}`} aria-expanded=${s?"true":"false"} onClick=${()=>r(s?null:"menu")}>⋯</button>
    ${s==="menu"&&c`<div class="menu" role="group" aria-label=${`What to do with ${_}`}>
      <button type="button" class="plain" onClick=${()=>r("rename")}>Rename</button>
      <button type="button" class="plain" onClick=${()=>h("md")}>Export as Markdown</button>
      <button type="button" class="plain" onClick=${()=>h("json")}>Export as JSON</button>
      <button type="button" class="plain danger" onClick=${()=>r("delete")}>Delete</button>
    </div>`}
    ${s==="delete"&&c`<div class="menu" role="group" aria-label="Delete the conversation for good?">
      <button type="button" class="plain danger" onClick=${m}>Delete for good</button>
      <button ref=${d} type="button" class="plain" onClick=${()=>r(null)}>Keep</button>
    </div>`}
  </li>`}var Jn={right:"Right",wrong:"Wrong",better_source:"Better source"};function Gn({thread:e,turn:t}){let[n,o]=x(null),[a,s]=x(""),r=C(),i=async l=>{try{await J("/feedback",{run_id:t.ended,thread_id:e,...l}),n&&r.current.focus(),o(null),s(`Noted: ${Jn[l.verdict].toLowerCase()}.`)}catch(f){s(f.message)}},d=l=>{l.preventDefault();let f=new FormData(l.currentTarget);i({verdict:n,comment:f.get("comment"),chunk_id:f.get("chunk_id")||null})},u=t.values?.passages??[];return c`<span class="feedback" role="group" aria-label="Feedback">
      ${Object.entries(Jn).map(([l,f])=>c`<button type="button" class="plain" aria-pressed=${n===l?"true":"false"}
            onClick=${_=>(r.current=_.currentTarget,l==="right"?i({verdict:l,comment:""}):o(n===l?null:l))}>${f}</button>`)}
      <span role="status" class="faint">${a}</span>
    </span>
    ${n&&c`<form class="opinion" onSubmit=${d}>
      ${n==="better_source"&&u.length>0&&c`<label>The passage that says it
        <select name="chunk_id"><option value="">none of these</option>
          ${u.map(l=>c`<option value=${l.id}>${l.source}${l.page?`, page ${l.page}`:""}: ${l.preview.slice(0,60)}</option>`)}
        </select></label>`}
      <label>What should it say, or where does it stand?<input name="comment" maxlength="2000" /></label>
      <button>Send</button>
    </form>`}`}function zn({pause:e,busy:t,resume:n,open:o}){return e.review==="queries"?c`<${Jo} pause=${e} busy=${t} resume=${n} />`:e.review==="sources"?c`<${Go} pause=${e} busy=${t} resume=${n} open=${o} />`:c`<p class="note">This run waits for a person, in a way that this page does not know; go on with it in the program that began it.</p>`}function Jo({pause:e,busy:t,resume:n}){let[o,a]=x(e.queries),s=(d,u)=>a(o.map((l,f)=>f===d?u:l)),r=o.map(d=>d.trim()).filter(Boolean);return c`<form class="review" aria-label="What to search for" onSubmit=${d=>{d.preventDefault(),r.length&&!t&&n(r)}}>
    <h3>This will be searched for. Change it, or go on.</h3>
    ${e.problem&&c`<p role="alert">${e.problem}</p>`}
    <ol>
      ${o.map((d,u)=>c`<li key=${u}>
          <input aria-label=${`Query ${u+1}`} dir="auto" value=${d} maxlength="10000" onInput=${l=>s(u,l.currentTarget.value)} />
          <button type="button" class="icon" aria-label=${`Leave out query ${u+1}`} disabled=${o.length<2} onClick=${()=>a(o.filter((l,f)=>f!==u))}>✕</button>
        </li>`)}
    </ol>
    <button disabled=${t||!r.length}>Search</button>
    <button type="button" class="plain" onClick=${()=>a([...o,""])}>Add a query</button>
  </form>`}function Go({pause:e,busy:t,resume:n,open:o}){let[a,s]=x([]),r=e.passages.map(u=>u.id).filter(u=>!a.includes(u)),i=(u,l)=>s(l?a.filter(f=>f!==u):[...a,u]);return c`<form class="review" aria-label="Which passages to answer from" onSubmit=${u=>{u.preventDefault(),r.length&&!t&&n(r)}}>
    <h3>The answer will be written from these. Leave out what should not count, or go on.</h3>
    ${e.problem&&c`<p role="alert">${e.problem}</p>`}
    <ul class="passages">
      ${e.passages.map(u=>c`<li key=${u.id}>
          <label><input type="checkbox" checked=${!a.includes(u.id)} onChange=${l=>i(u.id,l.currentTarget.checked)} />
            <span><strong>${u.source}${u.page?`, page ${u.page}`:""}</strong> <span dir="auto">${u.preview}…</span></span></label>
          <button type="button" class="plain" aria-label=${`Show the passage of ${u.source}`} onClick=${l=>o({...u,chunk_id:u.id,title:""},l.currentTarget)}>Show</button>
        </li>`)}
    </ul>
    <button disabled=${t||!r.length}>Answer from ${r.length===1?"this passage":`these ${r.length}`}</button>
  </form>`}var xt={begin:"opening the corpus",condense:"reading the conversation",rewrite:"choosing what to search for",retrieve:"searching",fuse:"joining the lists",rerank:"ordering the passages",merge:"joining neighbouring passages",grade:"judging the evidence",pack:"choosing how to answer",create:"writing",refine:"reading on",map:"reading all windows",installed:"writing",gather:"laying out the parts",reduce:"joining the parts",cite:"checking the quotes",abstain:"finding no answer",finish:"finishing"},zo=24,Qo=e=>e>=1e3?`${(e/1e3).toFixed(1)} s`:`${Math.round(e)} ms`;function Qn({values:e,open:t}){let{trace:n=[],queries:o=[],route:a,usage:s={},evidence:r,standalone_question:i,original_question:d}=e;return c`<section class="river" aria-label="How it was found">
    <h3>Searched for</h3>
    ${i&&i!==d&&c`<p class="faint">Understood as: <bdi>${i}</bdi></p>`}
    <ol class="queries">
      ${o.map(u=>c`<li><bdi>${u.text}</bdi> <span class="faint">${u.kind}, weight ${Number(u.weight.toFixed(2))}</span></li>`)}
    </ol>
    <${Zo} values=${e} open=${t} />
    ${r?.verdict&&c`<h3>Evidence: ${r.verdict}</h3><ul>${r.reasons.map(u=>c`<li>${u}</li>`)}</ul>`}
    ${a?.name&&c`<h3>Written by: ${a.name}</h3><ul>${a.reasons.map(u=>c`<li>${u}</li>`)}</ul>`}
    <h3>Steps</h3>
    <p class="faint">${s.calls??0} model calls in ${s.rounds??0} rounds, ${s.prompt_tokens??0} tokens read, ${s.output_tokens??0} written.</p>
    <${Yo} trace=${n} />
  </section>`}function Yo({trace:e}){let t=Math.max(1,...e.map(n=>n.ms));return c`<div class="wide" tabindex="0" role="region" aria-label="Steps of the run">
    <table class="steps">
      <thead><tr><th scope="col">Step</th><th scope="col">Time</th><th scope="col">Calls</th><th scope="col">Tokens</th><th scope="col">What it did</th></tr></thead>
      <tbody>
        ${e.map((n,o)=>{let a=o>0&&e[o-1].round===n.round;return c`<tr class=${a?"beside":""}>
            <th scope="row">${n.node}<br /><span class="faint">${xt[n.node]}${a&&", at the same time"}</span></th>
            <td><meter min="0" max=${t} value=${n.ms} aria-label=${`Time of ${n.node}`}></meter> ${Qo(n.ms)}</td>
            <td>${n.calls||""}</td>
            <td>${n.prompt_tokens+n.output_tokens||""}</td>
            <td class="faint">${Xo(n.counts)}</td>
          </tr>`})}
      </tbody>
    </table>
  </div>`}function Xo(e){return Object.entries(e).filter(([,t])=>!(Array.isArray(t)&&!t.length)).map(([t,n])=>`${t} ${typeof n=="object"?JSON.stringify(n):n}`).join(", ")}function Zo({values:e,open:t}){let{candidates:n=[],passages:o=[],citations:a=[]}=e;if(!n.length)return null;let s=[...new Set(n.flatMap(h=>Object.keys(h.ranks)))].sort(),r=[...s,"joined","passages"],i=new Map(o.flatMap((h,g)=>h.leaves.map(v=>[v,g]))),d=new Set(a.map(h=>h.chunk_id)),u=h=>d.has(h.id)||d.has(o[i.get(h.id)]?.id),l=Math.max(zo,...n.flatMap(h=>Object.values(h.ranks))),f=150*(r.length-1)+80,_=h=>40+150*r.indexOf(h),p=(h,g)=>30+190*(h-1)/Math.max(g-1,1),m=n.map(h=>{let g=s.filter(w=>h.ranks[w]).map(w=>[_(w),p(h.ranks[w],l)]);return g.push([_("joined"),p(h.fused,l)]),i.has(h.id)&&g.push([_("passages"),p(i.get(h.id)+1,Math.max(o.length,2))]),{path:g.map(([w,b],$)=>$===0?`M${w},${b}`:`C${w-75},${g[$-1][1]} ${w-75},${b} ${w},${b}`).join(""),points:g,strong:u(h)}});return m.sort((h,g)=>h.strong-g.strong),c`<h3>Lists, and how they flowed together</h3>
    <div class="wide" tabindex="0" role="region" aria-label="Picture of the ranks">
      <svg class="flow" viewBox=${`0 0 ${f} 235`} role="img" aria-label="Ranks of each passage in the lists, after joining them, and in the answer; cited ones are emphasised. The table below says the same.">
        ${r.map(h=>c`<text x=${_(h)} y="16" text-anchor="middle">${h}</text>`)}
        ${m.map(({path:h,points:g,strong:v})=>c`<g class=${v?"strong":""}><path d=${h} />${g.map(([w,b])=>c`<circle cx=${w} cy=${b} r=${v?3.5:2} />`)}</g>`)}
      </svg>
    </div>
    <details>
      <summary>Passages and their ranks</summary>
      <${St} values=${e} open=${t} />
    </details>`}function St({values:e,open:t,ranks:n=!0,most:o=1/0}){let{candidates:a=[],passages:s=[],citations:r=[]}=e,i=new Map(a.map(u=>[u.id,u])),d=new Set(r.map(u=>u.chunk_id));return c`<ol class="passages">
    ${s.slice(0,o).map(u=>{let f=u.leaves.map(_=>i.get(_)).filter(Boolean).map(_=>`${Object.entries(_.ranks).map(([p,m])=>`${p} ${m}`).join(", ")}, joined ${_.fused}`);return c`<li>
        <button type="button" class="plain" onClick=${_=>t({...u,chunk_id:u.id,title:""},_.currentTarget)}>
          ${u.source}${u.page?`, page ${u.page}`:""}
        </button>
        ${d.has(u.id)&&c` <span class="grade quoted">cited</span>`}
        ${n&&u.leaves.length>1&&c` <span class="grade">merged from ${u.leaves.length}</span>`}
        <br /><bdi>${u.preview}…</bdi>
        ${n&&c`<br /><span class="faint">${f.join("; ")}</span>`}
      </li>`})}
  </ol>`}var es={};function Yn({turn:e,thread:t,busy:n,last:o,open:a,shown:s,ask:r,resume:i,stop:d,fork:u,choose:l}){let[f,_]=x(!1),[p,m]=x(!1),h=C(),g=()=>{_(!1),requestAnimationFrame(()=>h.current?.focus())},v=e.values??es,{citations:w=[],unsupported:b=[],verification:$={},abstained:k}=v,S=[...new Map((v.degraded??[]).map(q=>[`${q.step} ${q.reason}`,q])).values()],A=e.live?e.text:v.answer??"",E=e.question??v.original_question??"",U=e.versions?.indexOf(e.run)??-1;return c`<article class="turn">
    ${f?c`<${ns} question=${E} cancel=${g} save=${q=>{_(!1),r(q,e.base)}} />`:c`<h2 dir="auto">${E}</h2>`}
    ${e.versions?.length>1&&c`<p class="versions">
      <button type="button" class="icon" aria-label="Earlier version" disabled=${U<=0||n} onClick=${()=>l(e.versions[U-1])}>‹</button>
      Version ${U+1} of ${e.versions.length}
      <button type="button" class="icon" aria-label="Later version" disabled=${U>=e.versions.length-1||n} onClick=${()=>l(e.versions[U+1])}>›</button>
    </p>`}
    <${Cn} text=${A} citations=${e.live?[]:w} verification=${$} unsupported=${e.live?[]:b}
      busy=${!!e.live} open=${a} shown=${s} />
    ${e.live&&c`<${ts} turn=${e} stop=${d} />`}
    ${e.error&&c`<p role="alert" class="error">${e.error}</p>`}
    ${!e.live&&e.unfinished&&!e.pause&&c`<p class="note">This was stopped before the answer was complete.</p>`}
    ${e.pause&&(i?c`<${zn} key=${e.ended} pause=${e.pause} busy=${n} resume=${i} open=${a} />`:c`<p class="note">This version waited for a person. Ask it again to go on.</p>`)}
    ${!e.live&&k&&v.passages?.length>0&&c`<details class="nearest" open><summary>The nearest passages, to be opened</summary>
      <${St} values=${v} open=${a} ranks=${!1} most=${5} /></details>`}
    ${!e.live&&c`<${Dn} citations=${w} verification=${$} unsupported=${b} open=${a} />`}
    ${!e.live&&S.length>0&&c`<ul class="degraded">${S.map(q=>c`<li><strong>${q.step}</strong> could not do its best: ${q.reason}</li>`)}</ul>`}
    ${!e.live&&c`<div class="actions">
      ${e.values&&c`<button type="button" class="plain" aria-expanded=${p?"true":"false"} onClick=${()=>m(!p)}>How it was found</button>`}
      <button type="button" class="plain" disabled=${n} onClick=${()=>r(E,e.base)}>Retry</button>
      ${e.base!==void 0&&c`
        <button ref=${h} type="button" class="plain" disabled=${n} onClick=${()=>_(!0)}>Edit</button>`}
      ${e.checkpoint&&!o&&c`<button type="button" class="plain" disabled=${n} onClick=${()=>u(e)}>Go on from here</button>`}
      ${e.run&&!e.unfinished&&c`<${Gn} key=${e.run} thread=${t} turn=${e} />`}
    </div>`}
    ${p&&!e.live&&c`<${Qn} values=${v} open=${a} />`}
  </article>`}var Tt=e=>e.lost?"connecting again":xt[e.step]??e.step??"waiting";function ts({turn:e,stop:t}){let n=Tt(e);return c`<p class="progress">
    <span class="dot" aria-hidden="true"></span>
    <span>${n}</span>
    <button type="button" onClick=${t}>Stop</button>
  </p>`}function ns({question:e,save:t,cancel:n}){return c`<form class="edit" onSubmit=${a=>{a.preventDefault();let s=new FormData(a.currentTarget).get("question").trim();s&&t(s)}} onKeyDown=${a=>a.key==="Escape"&&(a.preventDefault(),n())}>
    <label class="hidden" for="edited">Edit the question</label>
    <textarea id="edited" dir="auto" name="question" rows="3" required ref=${a=>a?.focus()}>${e}</textarea>
    <button>Ask again</button> <button type="button" class="plain" onClick=${n}>Cancel</button>
  </form>`}var os={assistant_id:"answer",stream_mode:["messages-tuple","custom"],stream_subgraphs:!0,stream_resumable:!0,on_disconnect:"continue"},Xn=200,ss=1e3,he=()=>location.hash.replace(/^#\/?/,"")||null;function rs({failed:e}){let[t,n]=x(null),[o,a]=x(!1),[s,r]=x(""),[i,d]=x([]),[u,l]=x(!1),[f,_]=x(he()),[p,m]=x([]),[h,g]=x(null),[v,w]=x(null),[b,$]=x(null),[k,S]=x(null),[A,E]=x(!1),[U,q]=x(null),[B,H]=x(Wn()),O=C(null),$e=C(Xn),ge=C(null),Y=y=>y.status===401||r(y.message),ne=Oe(async()=>{let y=await J("/threads/search",{limit:$e.current});l(y.length===$e.current&&$e.current<ss),d(y.filter(T=>!T.metadata?.graph_id||T.metadata.graph_id==="answer"))},[]),Ct=Oe(async()=>{try{await D("/documents?limit=1"),q(null)}catch(y){De(y)&&q(y.message)}},[]),Et=Oe(async()=>{try{n(await D("/page/options")),a(!1),Ct(),await ne()}catch(y){Y(y)}},[]);P(()=>{hn(()=>a(!0)),Et();let y=()=>_(he());return addEventListener("hashchange",y),()=>removeEventListener("hashchange",y)},[]),P(()=>{!t||o||O.current?.thread!==f&&(O.current?.ends.abort(),O.current=null,m([]),g(null),w(null),$(null),r(""),f&&Ot(f).catch(Y))},[f,t,o]);let Ot=async(y,T)=>{let[j,[L]]=await Promise.all([ae(y,T),D(`/threads/${y}/runs?limit=1`)]);if(he()!==y)return;if(!["pending","running"].includes(L?.status))return void m(j);let I=j.find(K=>Re(K,L.run_id))??(j.at(-1)?.pause?j.at(-1):void 0);await Dt(y,L.run_id,null,j.filter(K=>K!==I),I?.values?.original_question)},Dt=async(y,T,j,L,I)=>{let K=new AbortController,X={thread:y,run:T,ends:K},W=yt(I,T),je=!1,Ie=F=>{W=F,X.run=F.run,!je&&(je=!0,requestAnimationFrame(()=>{je=!1,O.current===X&&g(W)}))};O.current=X,m(L),g(W);try{await $n(y,T,j,{signal:K.signal,onLost:()=>Ie({...W,lost:!0}),onEvent:F=>Ie(Un(W,F))})}catch(F){if(K.signal.aborted)return;Ie({...W,error:F.message})}if(O.current===X){try{let F=await ae(y);if(O.current!==X||he()!==y)return;let Fe=F.at(-1),so={question:I,error:W.error??"This was stopped before it began.",values:null};m(Re(Fe,W.run)||Fe?.pause?[...F.slice(0,-1),{...Fe,error:W.error}]:[...F,so]),w(null)}catch(F){O.current===X&&m([...L,{question:I,error:W.error??F.message,values:null}])}finally{O.current===X&&(O.current=null,g(null),et())}ne().catch(()=>{})}},At=async(y,T,j)=>{r(""),m(y),g(yt(T)),et();try{let L=f;L||(L=(await J("/threads",{metadata:{title:T.replace(/\s+/g," ").slice(0,80),graph_id:"answer"}})).thread_id,O.current={thread:L,ends:new AbortController},location.hash=`/${L}`,_(L));let I=await V(`/threads/${L}/runs/stream`,{method:"POST",body:{...os,...j}}),K=(I.headers.get("Content-Location")??"").split("/").pop();ne().catch(()=>{}),he()===L&&await Dt(L,K,I,y,T)}catch(L){L.status===401&&nt.set(T),O.current=null,g(null),m([...y,{question:T,error:L.message,values:null}])}},Rt=(y,T)=>{let j=T===void 0?p.length:p.findIndex(I=>I.base===T),L=p.slice(0,j).filter(I=>I.values);return At(L,y,{input:{question:y},context:B,checkpoint_id:T??v??void 0})},Zn=y=>At(p.slice(0,-1),p.at(-1).values.original_question,{command:{resume:y}}),eo=()=>{let{thread:y,run:T}=O.current??{};T&&V(`/threads/${y}/runs/${T}/cancel`,{method:"POST"}).catch(Y)},Pt=async y=>{m(await ae(f,y)),w(y)},to=async y=>Pt(await yn(f,y)).catch(Y),qt=y=>{location.hash=y?`/${y}`:"",_(y),S(null)},no=(y,T)=>{ge.current=T,S(null),$(y)},be=()=>{$(null),S(null),(ge.current?.isConnected?ge.current:document.getElementById("question"))?.focus()},Lt=C();Lt.current=y=>y.key==="Escape"&&!y.defaultPrevented&&(b||k)&&be(),P(()=>{let y=T=>Lt.current(T);return addEventListener("keydown",y),()=>removeEventListener("keydown",y)},[]);let Mt=C();Mt.current=async()=>{if(!t||o||document.visibilityState!=="visible"||(await ne(),!f||h||v||!p.every(T=>T.values)))return;let[y]=await D(`/threads/${f}/runs?limit=1`);y&&!O.current&&!p.some(T=>Re(T,y.run_id))&&await Ot(f)},P(()=>{let y=()=>Mt.current().catch(()=>{});return document.addEventListener("visibilitychange",y),()=>document.removeEventListener("visibilitychange",y)},[]);let G=h?[...p,h]:p,Nt=(y,T)=>c`<${Yn} key=${y.run??`new-${T}`} turn=${y} thread=${f} last=${T===G.length-1} busy=${!!h} open=${no} shown=${b&&b.chunk_id+b.start}
    resume=${v||T<G.length-1?null:Zn} ask=${Rt} stop=${eo} choose=${to} fork=${j=>Pt(j.checkpoint).catch(Y)} />`,oo=oe(()=>p.map(Nt),[p,f,!!h,b,B,v]),jt=C();P(()=>jt.current?.querySelector("article:last-of-type")?.scrollIntoView({block:"start"}),[f,G.length,G.at(-1)?.pause]);let Ne=i.find(y=>y.thread_id===f);if(P(()=>{document.title=Ne?`${Me(Ne)} - Anabranch`:"Anabranch"},[Ne]),o)return c`<${Fn} enter=${Et} failed=${e} />`;let ye=y=>T=>{ge.current=T.currentTarget,$(null),S(k===y?null:y),y==="documents"&&E(!0)};return c`<div class=${`layout ${b||["documents","settings"].includes(k)?"aside":""} ${k==="threads"?"listed":""}`}>
    <header class="top">
      <button type="button" class="icon only-narrow" aria-label="Conversations" aria-expanded=${k==="threads"?"true":"false"} onClick=${ye("threads")}>☰</button>
      <h1>Anabranch</h1>
      <button type="button" class="plain" aria-expanded=${k==="documents"?"true":"false"} onClick=${ye("documents")}>Documents</button>
      <button type="button" class="plain" aria-expanded=${k==="settings"?"true":"false"} onClick=${ye("settings")}>Settings</button>
      ${t?.name&&c`<button type="button" class="plain" onClick=${()=>{te.clear(),location.reload()}}>Sign out <span class="who">${t.name}</span></button>`}
    </header>
    <${Vn} threads=${i} hasMore=${u} more=${()=>{$e.current+=Xn,ne().catch(Y)}} current=${f} choose=${qt} begin=${()=>qt(null)} refresh=${()=>ne().catch(Y)} />
    <main ref=${jt}>
      <p class="hidden" role="status">${h?Tt(h):G.at(-1)?.pause?"The run waits for you.":G.length>0&&"The answer is complete."}</p>
      ${s&&c`<p role="alert" class="error">${s}</p>`}
      ${!G.length&&!f&&c`<div class="welcome">
        ${U===null?c`<p>Ask something about your documents. Every statement of the answer is held against them, and a click on its number shows the place.</p>`:c`<${$t} options=${t} told=${U} />${t.may_ingest&&c`<button type="button" onClick=${ye("documents")}>Add documents</button>`}`}
      </div>`}
      ${oo}
      ${h&&Nt(h,p.length)}
      <${_n} ask=${Rt} busy=${!!h} goesOn=${G.length>0} tip=${v} />
    </main>
    ${b&&c`<${An} cite=${b} close=${be} />`}
    ${t&&A&&c`<${Mn} options=${t} isShown=${k==="documents"} close=${be} changed=${Ct} />`}
    ${k==="settings"&&t&&c`<${Kn} fixed=${t.fixed} values=${B} onChange=${H} close=${be} />`}
  </div>`}wt();var as=await In();Yt(c`<${rs} failed=${as} />`,document.getElementById("page"));
// sources 2d655241e22285490dd6d06bcea8eb559e675ad40be4a18040732cb3b114718f
