var C,ht,wn,G,Ae,ve,$t,$e,gt,Le,je,xn,ae=Symbol.for("pv"),ye={},ke=[],Sn=/^m(i|n|o|s|text|space)$/,Me=Array.isArray,Ne=ke.slice,Z=Object.assign;function X(e){e&&e.parentNode&&e.remove()}function bt(e,t,n){var o,r,s,a={},i=arguments.length;for(s in t)s=="key"?o=t[s]:s=="ref"&&typeof e!="function"?r=t[s]:a[s]=t[s];return i>2&&(a.children=i>3?Ne.call(arguments,2):n),se(e,a,o,r,null)}function se(e,t,n,o,r){var s={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ae,__v:r||++ht,__i:-1,__u:0};return!r&&C.vnode&&C.vnode(s),s}function we(e){return e.children}function ge(e,t){this.props=e,this.context=t,this.__g=0}function z(e,t){if(t==null)return e.__&&z(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:z(e)}function Cn(e){var t,n=e.__v,o=n.__e,r=[],s=[],a=e.__P;a&&((t=Z({constructor:ae},n)).__v=n.__v+1,C.vnode&&C.vnode(t),Re(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,r,o||z(n),32&n.__u,s),t.__v=n.__v,t.__.__k[t.__i]=t,St(r,t,s),n.__=n.__e=null,t.__e!=o&&vt(t))}function vt(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),vt(e)}function ft(e){(8&e.__g||(e.__g|=8,G.push(e),ve++))&&Ae==C.debounceRendering||((Ae=C.debounceRendering)||queueMicrotask)(yt)}function yt(){try{for(var e,t=1;G.length;)G.length>t&&G.sort($t),e=G.shift(),t=G.length,8&e.__g&&Cn(e)}finally{(ve=G.length)&&(Ae||queueMicrotask)(yt)}}function kt(e,t,n,o,r,s,a,i,u,p,l){var f,d,c,h,m,g,b=o.__k||ke,$=t.length;for(u=Tn(n,t,b,u,$),f=0;f<$;f++)(c=n.__k[f])!=null&&(d=~c.__i&&b[c.__i]||ye,c.__i=f,g=Re(e,c,d,r,s,a,i,u,p,l),h=c.__e,(d.ref!=c.ref||8&d.__u)&&(d.ref&&Ie(d.ref,null,c,d),c.ref&&l.push(c.ref,c.__c||h,c)),m=m||h,4&c.__u?(u=wt(c,u,e,!d.__v),d.__e&&(d.__e=null)):typeof c.type=="function"&&g!==void 0?u=g:h&&(u=h.nextSibling),c.__u&=-21);return n.__e=m,u}function Tn(e,t,n,o,r){var s,a,i,u,p,l,f,d,c,h=n.length,m=h,g=0,b=0,$=e.__k=Array(r);for(s=0;s<r;s++)(a=t[s])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=$[s]=se(null,a):Me(a)?a=$[s]=se(we,{children:a}):a.constructor===ae&&a.__b?a=$[s]=se(a.type,a.props,a.key,a.ref,a.__v):$[s]=a,u=s+g,a.__=e,a.__b=e.__b+1,i=null,~(p=a.__i=En(a,n,u,m))&&(m--,(i=n[p])&&(i.__u|=2)),i&&i.__v?(a.__u|=16,p==u-1?g--:p==u+1?g++:p!=u&&(p>u?g--:g++,b=1)):(~p||(r>h?g--:r<h&&g++),typeof a.type!="function"&&(a.__u|=4))):$[s]=null;if(b){for(l=[],f=[],s=0;s<r;s++)if((a=$[s])&&16&a.__u){for(g=0,d=l.length;g<d;)l[c=g+d>>1]<a.__i?g=c+1:d=c;l[g]=a.__i,f[s]=g+1}for(g=l.length;s--;)f[s]&&(f[s]==g?g--:$[s].__u|=4)}if(m)for(s=0;s<h;s++)!(i=n[s])||2&i.__u||(i.__e==o&&(o=z(i)),Ue(i,i));return o}function wt(e,t,n,o){var r,s,a,i;if(typeof e.type=="function"){if(e.props.__P)return t;if(r=e.__k)for(s=0;s<r.length;s++)r[s]&&(r[s].__=e,t=wt(r[s],t,n,!1));return t}for(t&&!t.parentNode&&(t=z(e))&&!t.parentNode&&(t=null),a=e.__e,i=t;i&&i.nodeType==8;)i=i.nextSibling;for(a!=i&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function En(e,t,n,o){var r,s=e.key,a=e.type,i=t[n],u=i&&!(2&i.__u);if(i===null&&s==null||u&&s==i.key&&a==i.type)return n;if(o>(u?1:0)){for(r=n-1;r>=0;r--)if((i=t[r])&&!(2&i.__u)&&s==i.key&&a==i.type)return r;for(r=n+1;r<t.length;r++)if((i=t[r])&&!(2&i.__u)&&s==i.key&&a==i.type)return r}return-1}function mt(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function he(e,t,n,o,r){var s,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||mt(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||mt(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=je[t]||(je[t]=Pn(t)),(e.__a||(e.__a={}))[t]=Le,s=t!=(t=t.replace(gt,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,s):e.removeEventListener(t,a,s));else{if(r=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Pn(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[$e]==null)t[$e]=Le++;else if(t[$e]<this.__a[e])return;return n(C.event?C.event(t):t)}}}function Re(e,t,n,o,r,s,a,i,u,p){var l,f,d,c,h,m,g,b,$,v,w,T,x,j,S,J,I,H,N=t.type;if(t.constructor!==ae)return null;128&n.__u&&(u=32&n.__u,l=n.__c.__z)&&(t.__u|=u,f=s=[],l.nodeType==8?i=be(l,s):s.push(l),i=s[0]||i),(l=C.__b)&&l(t);e:if(typeof N=="function"){d=a.length;try{if(b=t.props,$=(l=N.prototype)&&l.render,v=(l=N.contextType)&&o[l.__c],w=l?v?v.props.value:l.__:o,(c=n.__c)?(t.__c=c,2&c.__g&&(c.__g|=1)):($?t.__c=c=new N(b,w):(t.__c=c=new ge(b,w),c.constructor=N,c.render=Dn),v&&v.sub(c),c.state||(c.state={}),c.__n=o,c.__g|=8,c.__h=[],c.__k=[]),$&&(c.__s||(c.__s=c.state),N.getDerivedStateFromProps&&(c.__s==c.state&&(c.__s=Z({},c.__s)),Z(c.__s,N.getDerivedStateFromProps(b,c.__s)))),h=c.props,m=c.state,c.__v=t,n.__c){if(b!==h&&$&&!N.getDerivedStateFromProps&&c.componentWillReceiveProps&&c.componentWillReceiveProps(b,w),t.__v==n.__v&&!(8&c.__g)||!(4&c.__g)&&c.shouldComponentUpdate&&c.shouldComponentUpdate(b,c.__s,w)===!1){t.__v!=n.__v&&(c.props=b,c.state=c.__s,c.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(L){L&&(L.__=t)}),ke.push.apply(c.__h,c.__k),c.__k=[],c.__h.length&&a.push(c),i=z(n);break e}c.componentWillUpdate&&c.componentWillUpdate(b,c.__s,w),$&&c.componentDidUpdate&&c.__h.push(function(){c.componentDidUpdate(h,m,g)})}else $&&!N.getDerivedStateFromProps&&c.componentWillMount&&c.componentWillMount(),$&&c.componentDidMount&&c.__h.push(c.componentDidMount);c.context=w,c.props=b,c.__P=e,c.__g&=-5,T=C.__r,x=$?25:0;do c.__g&=-9,T&&T(t),l=c.render(c.props,c.state=c.__s,c.context);while(8&c.__g&&++x<25);$&&(ke.push.apply(c.__h,c.__k),c.__k=[]),c.state=c.__s,c.getChildContext&&(o=Z({},o,c.getChildContext())),$&&n.__c&&c.getSnapshotBeforeUpdate&&(g=c.getSnapshotBeforeUpdate(h,m)),j=l&&l.type===we&&l.key==null?l.props.children:l,b.__P&&(l=i,r=(e=b.__P).namespaceURI,u=s=null,n.props&&n.props.__P!=e&&(n.__k.some(function(L){L&&Ue(L,L)}),n.__k=null),i=n.__k?z(n,0):null),i=kt(e,Me(j)?j:[j],t,n,o,r,s,a,i,u,p),b.__P&&(t.__e=null,i=l),t.__u&=-161,f&&f.some(X),c.__h.length&&a.push(c),1&c.__g&&(c.__g&=-4)}catch(L){if(a.length=d,t.__v=null,u||s)if(L&&L.then){if(t.__u|=128|u,s){for(~(I=s.indexOf(i||void 0))||(I=s.length);(H=s[I-1])&&H.nodeType==8;)I--;for(;I<s.length;I++)if(H=s[I])if(s[I]=null,S){if(H==J)break}else{if(H.nodeType!=8)break;H.data.startsWith("$s")&&(J=be(S=H))}}if(!S){for(;i&&i.nodeType==8&&i.nextSibling;)i=i.nextSibling;S=i}(l=be(S=t.__c.__z||(t.__c.__z=S)))?(t.__e=S,i=l):t.__e=i,i=i&&i.nextSibling}else s&&s.some(X);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),L&&L.then||xt(t),C.__e(L,t,n)}}else i=t.__e=On(n.__e,t,n,o,r,s,a,u,p,e);return(l=C.diffed)&&l(t),i}function be(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function xt(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(xt))}function St(e,t,n){for(var o=0;o<n.length;)Ie(n[o++],n[o++],n[o++]);C.__c&&C.__c(t,e),e.some(function(r){try{e=r.__h,r.__h=[],e.some(function(s){s.call(r)})}catch(s){C.__e(s,r.__v)}})}function On(e,t,n,o,r,s,a,i,u,p){var l,f,d,c,h,m,g,b,$=n.props||ye,v=t.props,w=t.type;if(w=="svg"?r="http://www.w3.org/2000/svg":w=="math"?r="http://www.w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),s){for(l=0;l<s.length;l++)if((h=s[l])&&(w?h.localName==w:h.nodeType==3)){e=h,s[l]=null;break}}if(!e){if(b=p.ownerDocument||document,!w)return b.createTextNode(v);e=b.createElementNS(r,w,v.is?v:p),i&&(C.__m&&C.__m(t,s),i=!1),s=null}if(w){if(p=w=="template"&&e.content||e,s=w=="textarea"&&v.defaultValue!=null?null:s&&Ne.call(p.childNodes),!i&&s)for($={},l=0;l<e.attributes.length;l++)$[(h=e.attributes[l]).name]=h.value;for(l in $)h=$[l],l=="dangerouslySetInnerHTML"?d=h:l=="children"||l in v||l=="value"&&"defaultValue"in v||l=="checked"&&"defaultChecked"in v||he(e,l,null,h,r);for(l in v)h=v[l],l=="children"?c=h:l=="dangerouslySetInnerHTML"?f=h:l=="value"?m=h:l=="checked"?g=h:i&&typeof h!="function"||$[l]===h||he(e,l,h,$[l],r);f?(i||d&&(f.__html==d.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(d&&(e.textContent=""),(w=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Sn.test(w))&&(r="http://www.w3.org/1999/xhtml"),kt(p,Me(c)?c:[c],t,n,o,r,s,a,s?s[0]:n.__k&&z(n,0),i,u),s&&s.some(X)),i&&w!="textarea"||(l="value",w=="progress"&&m==null?e.removeAttribute(l):m==null||m===e[l]&&(w!="progress"||m)||he(e,l,m,$[l],r),l="checked",g!=null&&g!=e[l]&&he(e,l,g,$[l],r))}else $===v||i&&e.data==v||(e.data=v);return e}function Ie(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(r){C.__e(r,n)}}function Ue(e,t,n){var o,r,s,a;if(C.unmount&&C.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Ie(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(i){C.__e(i,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Ue(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(r=be(o,s=[]))&&(o==e.__e&&s.some(X),X(r),X(o)),n||X(e.__e),e.__e=e.__c=e.__=null}function Dn(e,t,n){return this.constructor(e,n)}function Ct(e,t){var n,o,r,s;C.__&&C.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=se(we,{children:[e]}),r=[],s=[],Re(t,t.__k,o||ye,ye,t.namespaceURI,o?null:t.firstChild?Ne.call(t.childNodes):null,r,o?o.__e:t.firstChild,n,s),St(r,t.__k,s),t.__k.props.children=null}C={__e:function(e,t,n,o){for(var r,s,a;t=t.__;)if((r=t.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(s=r.constructor)&&s.getDerivedStateFromError)&&r.setState(s.getDerivedStateFromError(e)),r.componentDidCatch&&(r.componentDidCatch(e,o||{}),a=1),a&&8&r.__g)return void(r.__g|=2)}catch(i){e=i}}throw ve=0,e}},ht=0,wn=function(e){return e!=null&&e.constructor===ae},ge.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Z({},this.state)),typeof e=="function"&&(e=e(Z({},n),this.props)),e&&(Z(n,e),this.__v&&(t&&this.__k.push(t),ft(this)))},ge.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),ft(this))},ge.prototype.render=we,G=[],ve=0,$t=function(e,t){return e.__v.__b-t.__v.__b},$e=Symbol(),gt=/(PointerCapture)$|Capture$/i,Le=0,je={},xn=0;var ie,q,Fe,Tt,He=Object.is,le=0,Mt=[],We=[],O=C,Et=O.__b,Pt=O.__r,Ot=O.diffed,Dt=O.__c,qt=O.unmount,At=O.__;function Ke(e,t){O.__h&&O.__h(q,e,le||t),le=0;var n=q.__H||(q.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function k(e){return le=1,qn(It,e)}function qn(e,t,n){var o=Ke(ie++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):It(void 0,t),function(s){var a=(o.__N||o.__)[0],i=o.t(a,s);He(a,i)||(o.__N=[i,o.__[1]],o.__c.setState({}))}],o.__c=q,!q.__f)){q.__f=!0;var r=q.shouldComponentUpdate;q.shouldComponentUpdate=function(s,a,i){var u=this.__H;if(!u)return!0;var p=!1,l=this.props!=s;if(u.__.some(function(d){d.__N&&(p=!0,He(d.__[0],d.__N[0])||(l=!0))}),r){var f=r.call(this,s,a,i);return p?f||l:f}return!p||l}}return o.__}function A(e,t){var n=Ke(ie++,3);!O.__s&&Rt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,q.__H.__h.push(n))}function M(e){return le=5,Nt(function(){return{current:e}},[])}function Nt(e,t){var n=Ke(ie++,7);return Rt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Ve(e,t){return le=8,Nt(function(){return e},t)}function An(){var e;do{for(;e=We.shift();)try{re(e)}catch(n){O.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Mt.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(re),t.__h.some(Be),t.__h=[]}catch(n){t.__h=[],O.__e(n,e.__v)}}}while(We.length)}O.__b=function(e){q=null,Et&&Et(e)},O.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),At&&At(e,t)},O.__r=function(e){Pt&&Pt(e),ie=0;var t=(q=e.__c).__H;t&&(Fe==q?q.__h=[]:(t.__h.some(re),t.__h.some(Be),ie=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Fe=q},O.diffed=function(e){Ot&&Ot(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Lt(Mt.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Fe=q=null},O.__c=function(e,t){t.some(function(n){try{n.__h.some(re),n.__h=n.__h.filter(function(o){return!o.__||Be(o)})}catch(o){n.__h=[function(){throw o}]}}),Dt&&Dt(e,t)},O.unmount=function(e){qt&&qt(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,Lt(We.push(r))}else re(r)}catch(s){t=s}}),o.__H=void 0,t&&O.__e(t,o.__v))};var jt=typeof requestAnimationFrame=="function";function jn(e){var t,n=function(){clearTimeout(o),jt&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);jt&&(t=requestAnimationFrame(n))}function Lt(e){e!=1&&Tt==O.requestAnimationFrame||((Tt=O.requestAnimationFrame)||jn)(An)}function re(e){var t=q,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),q=t}function Be(e){var t=q;e.__c=e.__(),q=t}function Rt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!He(n,e[o])})}function It(e,t){return typeof t=="function"?t(e):t}var Ge="anabranch.key",ce=class extends Error{constructor(t,n){super(n),this.status=t}},Ut=()=>{};function Ft(e){Ut=e}var xe={get:()=>sessionStorage.getItem(Ge),set:e=>sessionStorage.setItem(Ge,e),clear:()=>sessionStorage.removeItem(Ge)};async function V(e,{method:t="GET",body:n,headers:o={},signal:r}={}){let s=xe.get(),a=n instanceof FormData,i=await fetch(e,{method:t,signal:r,headers:{...n===void 0||a?{}:{"Content-Type":"application/json"},...s?{Authorization:`Bearer ${s}`}:{},...o},body:n===void 0||a?n:JSON.stringify(n)});if(i.status===401&&Ut(),!i.ok)throw new ce(i.status,await Ln(i));return i}async function P(e,t){let n=await V(e,t);return n.status===204?null:n.json()}var U=(e,t)=>P(e,{method:"POST",body:t});async function Ln(e){try{let{detail:t}=await e.json();return typeof t=="string"?t:JSON.stringify(t)}catch{return`The server answered ${e.status}.`}}async function*ze(e){let t=e.body.pipeThrough(new TextDecoderStream).getReader(),n="",o={};try{for(;;){let{done:r,value:s}=await t.read();if(r)return;let a=(n+s).split(/\r?\n/);n=a.pop();for(let i of a){let u=i.indexOf(":");if(i==="")o.data!==void 0&&(yield{...o,data:JSON.parse(o.data)}),o={};else if(u>0){let p=i.slice(0,u),l=i.slice(u+1).replace(/^ /,"");o[p]=p==="data"&&o.data!==void 0?`${o.data}
${l}`:l}}}}finally{t.cancel().catch(()=>{})}}var Mn=8,Nn=e=>new Promise(t=>setTimeout(t,e));async function Ht(e,t,n,{onEvent:o,onLost:r,signal:s}){let a=null;for(let i=0;i<Mn;i+=1){try{n??=await V(`/threads/${e}/runs/${t}/stream`,{signal:s,headers:a===null?{}:{"Last-Event-ID":a}});for await(let p of ze(n)){if(i=0,a=p.id??a,p.event==="end")return;p.event==="metadata"&&(t=p.data.run_id??t),o(p)}let{status:u}=await P(`/threads/${e}/runs/${t}`,{signal:s});if(u!=="pending"&&u!=="running")return}catch(u){if(s?.aborted||u instanceof ce)throw u}n=null,r(),await Nn(Math.min(250*2**i,5e3))}throw new ce(0,"The connection to the server is lost. Reload the page to read on.")}var pe=e=>e.checkpoint?.checkpoint_id??e.checkpoint_id??null,ue=e=>e.parent_checkpoint?.checkpoint_id??null;async function te(e,t){let n=(await U(`/threads/${e}/history`,{limit:1e3,metadata:{source:"input"}})).reverse(),o=new Map(n.map(u=>[pe(u),u])),r=u=>o.has(ue(u))?null:ue(u),s=[],a=t?await Wt(e,t):await Rn(e,n);for(;a;){let u=a.metadata?.run_id,p=n.findLast(d=>d.metadata?.run_id===u);if(!p)break;let l=r(p),f=n.filter(d=>r(d)===l&&(l!==null||i(d)));(a.next??[]).includes("__start__")||s.unshift({run:u,values:a.values,checkpoint:pe(a),base:l??pe(f[0]??p),versions:[...new Set(f.map(d=>d.metadata.run_id))],unfinished:(a.next??[]).length>0,waits:(a.interrupts??[]).length>0}),a=l===null?null:await Wt(e,l)}return s;function i(u){return ue(u)===null||o.has(ue(u))}}var Wt=(e,t)=>P(`/threads/${e}/state/${t}`);async function Rn(e,t){return t.length?P(`/threads/${e}/state`):null}async function Bt(e,t){let n=(await U(`/threads/${e}/history`,{limit:1e3,metadata:{source:"input"}})).reverse();for(;;){let[o]=await U(`/threads/${e}/history`,{limit:1,metadata:{run_id:t}});if(!o)return null;let r=n.findLast(s=>ue(s)===pe(o));if(!r)return pe(o);t=r.metadata.run_id}}function Kt(e,t){let n=[`# ${e}`];for(let{values:o}of t){n.push(`## ${o.original_question}`,o.answer||"*No answer.*");for(let r of In(o.citations??[])){let s=r.page?`, page ${r.page}`:"";n.push(`[${r.marker}] ${r.title||r.source}${s} (${r.grade})
> ${r.quote.replace(/\n/g,`
> `)}`)}}return`${n.join(`

`)}
`}function In(e){let t=new Map;for(let n of e)t.has(n.marker)||t.set(n.marker,n);return[...t.values()].sort((n,o)=>n.marker-o.marker)}var Gt=function(e,t,n,o){var r;t[0]=0;for(var s=1;s<t.length;s++){var a=t[s++],i=t[s]?(t[0]|=a?1:2,n[t[s++]]):t[++s];a===3?o[0]=i:a===4?o[1]=Object.assign(o[1]||{},i):a===5?(o[1]=o[1]||{})[t[++s]]=i:a===6?o[1][t[++s]]+=i+"":a?(r=e.apply(i,Gt(e,i,n,["",null])),o.push(r),i[0]?t[0]|=2:(t[s-2]=0,t[s]=r)):o.push(i)}return o},Vt=new Map;function zt(e){var t=Vt.get(this);return t||(t=new Map,Vt.set(this,t)),(t=Gt(this,t.get(e)||(t.set(e,t=(function(n){for(var o,r,s=1,a="",i="",u=[0],p=function(d){s===1&&(d||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,d,a):s===3&&(d||a)?(u.push(3,d,a),s=2):s===2&&a==="..."&&d?u.push(4,d,0):s===2&&a&&!d?u.push(5,0,!0,a):s>=5&&((a||!d&&s===5)&&(u.push(s,0,a,r),s=6),d&&(u.push(s,d,0,r),s=6)),a=""},l=0;l<n.length;l++){l&&(s===1&&p(),p(l));for(var f=0;f<n[l].length;f++)o=n[l][f],s===1?o==="<"?(p(),u=[u],s=3):a+=o:s===4?a==="--"&&o===">"?(s=1,a=""):a=o+a[0]:i?o===i?i="":a+=o:o==='"'||o==="'"?i=o:o===">"?(p(),s=1):s&&(o==="="?(s=5,r=a,a=""):o==="/"&&(s<5||n[l][f+1]===">")?(p(),s===3&&(u=u[0]),s=u,(u=u[0]).push(2,0,s),s=0):o===" "||o==="	"||o===`
`||o==="\r"?(p(),s=2):a+=o),s===3&&a==="!--"&&(s=4,u=u[0])}return p(),u})(e)),t),arguments,[])).length>1?t:t[0]}var _=zt.bind(bt);var Se=/\[(\d{1,4})\](?!\()/g;var Qe="\uE000(\\d+)\\.(\\d+)\uE001",Je=e=>e.replace(/[^\p{L}\p{N}]+/gu,"").toLowerCase();function Jt(e,t){let n=e.replaceAll("\uE000","").replaceAll("\uE001",""),o=Je(n.replace(Se," ")),r=0,s=t.map(u=>{let p=Je(u.claim.replace(Se," ")),l=o.indexOf(p,r)>=0?o.indexOf(p,r):o.indexOf(p);return l<0?null:(r=l,l+p.length)}),a=[];return{numbered:n.replace(Se,(u,p,l)=>{let f=Je(n.slice(0,l).replace(Se," ")).length,c=t.map((h,m)=>({each:h,away:Math.abs((s[m]??1/0)-f)})).filter(({each:h})=>h.marker===Number(p)).sort((h,m)=>h.away-m.away);return a.push(c[0]?.each),`\uE000${p}.${a.length-1}\uE001`}),places:a}}var Ye=e=>e.replace(new RegExp(Qe,"g"),"[$1]");var Ce=/^\s*(```|~~~)/,Qt=/^(#{1,6})\s+(.*)$/,ne=/^(\s*)([-*+]|\d+[.)])\s+(.*)$/,Xe=/^\s*\|(.+)\|\s*$/,Un=/^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/,Fn=new RegExp(String.raw`(\`[^\`\n]+\`)|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\n]+)\*(?!\w)|${Qe}|!?\[([^\]\n]*)\]\([^)\s]*\)`,"g");function Yt(e,t,n=o=>o){let o=a=>Ze(a,t,n),r=e.split(`
`),s=[];for(let a=0;a<r.length;){let i=a,u=f=>{for(;a<r.length&&f(r[a]);)a+=1;return r.slice(i,a)},p=r[a],l=Qt.exec(p);if(!p.trim())a+=1;else if(Ce.test(p)){for(a+=1;a<r.length&&!Ce.test(r[a]);)a+=1;s.push(_`<pre tabindex="0"><code>${Ye(r.slice(i+1,a).join(`
`))}</code></pre>`),a+=1}else if(l)a+=1,s.push(l[1].length>2?_`<h4>${o(l[2])}</h4>`:_`<h3>${o(l[2])}</h3>`);else if(Xe.test(p)&&Un.test(r[a+1]??""))s.push(Hn(u(f=>Xe.test(f)),o));else if(ne.test(p)){let f=u(d=>ne.test(d)||/^\s+\S/.test(d)&&!Ce.test(d));s.push(Xt(f,o))}else{let f=u(d=>d.trim()&&!Ce.test(d)&&!Qt.test(d)&&!ne.test(d));s.push(_`<p>${o((f.length?f:[r[a++]]).join(`
`))}</p>`)}}return s}function Xt(e,t){let n=[],o=ne.exec(e[0]);for(let s of e){let a=ne.exec(s);a&&a[1].length<=o[1].length?n.push({text:a[3],inner:[]}):n.at(-1).inner.push(s.slice(o[1].length))}let r=n.map(({text:s,inner:a})=>_`<li>
        ${t(s)}
        ${a.length>0&&(ne.test(a[0])?Xt(a,t):_` ${t(a.map(i=>i.trim()).join(" "))}`)}
      </li>`);return/\d/.test(o[2])?_`<ol start=${parseInt(o[2],10)}>${r}</ol>`:_`<ul>${r}</ul>`}function Hn(e,t){let n=s=>Xe.exec(s)[1].split(/(?<!\\)\|/).map(a=>t(a.trim())),[o,,...r]=e;return _`<div class="wide" tabindex="0" role="region" aria-label="Table">
    <table>
      <thead><tr>${n(o).map(s=>_`<th scope="col">${s}</th>`)}</tr></thead>
      <tbody>${r.map(s=>_`<tr>${n(s).map(a=>_`<td>${a}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`}function Ze(e,t,n){let o=[],r=0;for(let s of e.matchAll(Fn)){let[a,i,u,p,l,f,d]=s;s.index>r&&o.push(n(e.slice(r,s.index))),r=s.index+a.length,i?o.push(_`<code>${Ye(i.slice(1,-1))}</code>`):u?o.push(_`<strong>${Ze(u,t,n)}</strong>`):p?o.push(_`<em>${Ze(p,t,n)}</em>`):l?o.push(t(Number(l),Number(f))):o.push(d)}return r<e.length&&o.push(n(e.slice(r))),o}var Te={quoted:"Quoted: the words stand in the document",supported:"Supported: the document says so in other words",unsupported:"Unsupported: no passage says so",contradicted:"Contradicted by the document"},Wn=200,et=e=>`${e.title||e.source}${e.page?`, page ${e.page}`:""}`;function Zt({text:e,citations:t,verification:n,unsupported:o,busy:r,open:s,shown:a}){let[i,u]=k(null),p=M(),l=M(!1),f=()=>clearTimeout(p.current),d=()=>{f(),p.current=setTimeout(()=>u(null),Wn)},c=(v,w)=>{f(),u({cite:v,element:w})};A(()=>f,[]);let h=v=>en(v,n)?"contradicted":v.grade,{numbered:m,places:g}=Jt(e,t);return _`<div class="answer" aria-busy=${r?"true":"false"}>
    ${Yt(m,(v,w)=>{let T=g[w];if(!T)return _`<span class="marker">${v}</span>`;let x=h(T),j=i?.cite===T;return _`<button
      type="button"
      class=${`marker ${x}`}
      aria-label=${`Source ${v}, ${x}: ${et(T)}`}
      aria-describedby=${j?"card":void 0}
      aria-pressed=${a===T.chunk_id+T.start?"true":"false"}
      onPointerEnter=${S=>S.pointerType!=="touch"&&c(T,S.currentTarget)}
      onPointerLeave=${S=>S.pointerType!=="touch"&&d()}
      onPointerDown=${S=>l.current=S.pointerType==="touch"&&!j}
      onFocus=${S=>c(T,S.currentTarget)}
      onBlur=${d}
      onKeyDown=${S=>S.key==="Escape"&&u(null)}
      onClick=${S=>{if(l.current)return void(l.current=!1)||c(T,S.currentTarget);u(null),s(T,S.currentTarget)}}
    >${v}</button>`},v=>tn(v,o))}
    ${i&&_`<${Bn} ...${i} grade=${h(i.cite)} onEnter=${f} onLeave=${d}
      open=${()=>{u(null),s(i.cite,i.element)}} />`}
  </div>`}function en(e,t){return e.judged==="contradicted"||(t.contradicted??[]).some(n=>n.claim===e.claim)}function tn(e,t){for(let n of t){let o=n?e.indexOf(n):-1;if(o>=0)return[e.slice(0,o),_`<span class="unsupported" title=${Te.unsupported}>${n}</span>`,tn(e.slice(o+n.length),t)]}return e}function Bn({cite:e,element:t,grade:n,open:o,onEnter:r,onLeave:s}){let a=M();return A(()=>{let i=t.getBoundingClientRect(),u=a.current,p=Math.max(8,Math.min(i.left,document.documentElement.clientWidth-u.offsetWidth-8)),l=i.top-u.offsetHeight-6;u.style.left=`${p}px`,u.style.top=`${l>8?l:i.bottom+6}px`;let f=()=>s();return addEventListener("scroll",f,!0),()=>removeEventListener("scroll",f,!0)},[t]),_`<div ref=${a} id="card" role="tooltip" class="card" onPointerEnter=${r} onPointerLeave=${s}>
    <strong>${et(e)}</strong>
    ${e.heading&&_`<span class="faint">${e.heading}</span>`}
    <blockquote>${e.quote}</blockquote>
    <span class=${`grade ${n}`}>${Te[n]}</span>
    <button type="button" class="plain" tabindex="-1" onClick=${o}>Show it in the document</button>
  </div>`}function nn({citations:e,verification:t,unsupported:n,open:o}){let{claims:r=0,quoted:s=0,supported:a=0,missing:i=[],contradicted:u=[],checked:p=""}=t;if(!r&&!n.length)return null;let l=[...e.map(d=>({...d,grade:en(d,t)?"contradicted":d.grade})),...u.filter(d=>!e.some(c=>c.claim===d.claim)).map(d=>({grade:"contradicted",claim:d.claim,quote:d.quote??d.evidence??""})),...n.map(d=>({grade:"unsupported",claim:d}))],f=[[s,"quoted"],[a,"supported"],[t.unsupported??n.length,"unsupported"],[u.length,"contradicted"]].filter(([d,c])=>d>0||c==="unsupported");return _`<details class="claims">
    <summary>
      ${r} ${r===1?"claim":"claims"}:
      ${f.map(([d,c])=>_` <span class=${`grade ${c} ${d?"":"none"}`}>${d} ${c}</span>`)}
    </summary>
    <ul>
      ${l.map(d=>_`<li>
          <span class=${`grade ${d.grade}`}>${d.grade}</span> ${d.claim.replaceAll("**","")}
          ${d.quote&&_`<blockquote>${d.quote}</blockquote>`}
          ${d.chunk_id&&_`<button type="button" class="plain" onClick=${c=>o(d,c.currentTarget)}>${et(d)}</button>`}
        </li>`)}
    </ul>
    ${i.length>0&&_`<p class="faint">In no passage: ${i.join(", ")}.</p>`}
    ${p&&_`<p class="faint">${p}.</p>`}
  </details>`}function on({cite:e,close:t}){let[n,o]=k(null),[r,s]=k(null),[a,i]=k(""),u=M(),p=e.end>e.start?`start=${e.start}&end=${e.end}`:"";A(()=>{let f=new AbortController;return o(null),i(""),s(null),u.current?.focus(),P(`/passages/${encodeURIComponent(e.chunk_id)}?${p}`,{signal:f.signal}).then(d=>{o(d),s(d.page)}).catch(d=>f.signal.aborted||i(d.status===404?"This passage is not in the documents of this server any more, or comes from another retriever.":d.message)),()=>f.abort()},[e]);let l=/^https?:/.test(e.link??"")?e.link:null;return _`<aside class="source" aria-label="Source" onKeyDown=${f=>f.key==="Escape"&&t()}>
    <header>
      <h2 ref=${u} tabindex="-1">${e.title||e.source}</h2>
      <button type="button" class="icon" aria-label="Close the source" onClick=${t}>✕</button>
    </header>
    <p class="faint">${[n?.heading??e.heading,e.source].filter(Boolean).join(" \xB7 ")}</p>
    ${e.grade&&_`<p><span class=${`grade ${e.grade}`}>${Te[e.grade]}</span></p>`}
    ${a&&_`<p role="alert">${a}</p>${e.quote&&_`<blockquote>${e.quote}</blockquote>`}`}
    ${n&&r!==null&&_`<${tt} passage=${n} number=${r} setNumber=${s} span=${p} />`}
    ${n&&_`<section class="passage" aria-label="Text of the passage">
      <h3>Text of the passage</h3>
      <p>${n.before}<mark>${n.quote}</mark>${n.after}</p>
    </section>`}
    ${l&&_`<p><a href=${l} target="_blank" rel="noopener noreferrer">Open the original</a></p>`}
  </aside>`}function tt({passage:e,number:t,setNumber:n,span:o}){let[r,s]=k(null),a=M(),i=`/documents/${encodeURIComponent(e.doc_id)}/pages/${t}`;if(A(()=>{let b=new AbortController,$=null;return s(null),(async()=>{let v=await P(`${i}/marks${e.chunk_id?`?chunk_id=${e.chunk_id}&${o}`:""}`,{signal:b.signal});if(!v.reason){let w=await V(`${i}.png`,{signal:b.signal});$=URL.createObjectURL(await w.blob())}if(b.signal.aborted)return $&&URL.revokeObjectURL($);s({...v,url:$})})().catch(v=>b.signal.aborted||s({reason:"fault",told:v.message})),()=>{b.abort(),$&&URL.revokeObjectURL($)}},[i,o]),!r)return _`<p class="faint" role="status">Page ${t} is being drawn.</p>`;if(r.reason)return _`<p class="note">${r.told}</p>`;let{width:u,height:p,boxes:l,on:f,pages:d,url:c}=r,h=!!(e.chunk_id&&o),m=f.filter(b=>b!==t),g=l.length?"the quote is marked":"nothing is marked";return _`<figure>
    <div class="sheet">
      <img src=${c} onLoad=${()=>a.current?.scrollIntoView({block:"nearest"})} alt=${`Page ${t} of ${e.title}${h?`; ${g}`:""}`} />
      <svg viewBox=${`0 0 ${u} ${p}`} preserveAspectRatio="none" aria-hidden="true">
        ${l.map(([b,$,v,w],T)=>_`<rect ref=${T===0?a:void 0} x=${b-1} y=${$-1} width=${v-b+2} height=${w-$+2} rx="1.5" />`)}
      </svg>
    </div>
    <figcaption>
      <button type="button" class="icon" aria-label="Previous page" disabled=${t<=1} onClick=${()=>n(t-1)}>‹</button>
      <span>Page ${t} of ${d}</span>
      <button type="button" class="icon" aria-label="Next page" disabled=${t>=d} onClick=${()=>n(t+1)}>›</button>
      ${m.map(b=>_`<button type="button" class="plain" onClick=${()=>n(b)}>The quote is also on page ${b}</button>`)}
      ${h&&t!==e.page&&_`<button type="button" class="plain" onClick=${()=>n(e.page)}>Back to page ${e.page}</button>`}
    </figcaption>
    ${h&&!f.length&&t===e.page&&_`<p class="note">The exact place was not found on the drawn page, so nothing is marked there.</p>`}
  </figure>`}var Kn={files:"Reading",passages:"Learning the passages",index:"Making the index"};function sn({done:e}){let[t,n]=k(!1),[o,r]=k(null),[s,a]=k(null),[i,u]=k(""),[p,l]=k(!1),f=M();A(()=>{P("/page/options").then(m=>a(m.name),()=>{})},[]);let d=async m=>{if(!m.length)return;let g=new FormData;for(let b of m)g.append("files",b);try{r({told:`Sending ${m.length===1?m[0].name:`${m.length} files`}`});let{paths:b}=await P("/uploads",{method:"POST",body:g}),$=i.split(",").map(x=>x.trim()).filter(Boolean),v=p?{access:[]}:$.length?{access:$}:{},w={assistant_id:"ingest",input:{paths:b,...v},stream_mode:["custom","values"]},T=null;for await(let x of ze(await V("/runs/stream",{method:"POST",body:w}))){if(x.event==="error")throw new Error(x.data.message);x.event==="custom"&&r({told:Kn[x.data.stage]??x.data.stage,...x.data}),x.event==="values"&&x.data.files&&(T=x.data)}r({files:T?.files??[]}),e()}catch(b){r({fault:b.message})}},c=m=>{m.preventDefault(),n(!1),d([...m.dataTransfer.files])},h=o?.told!==void 0;return _`<section class=${`upload ${t?"over":""}`} aria-label="Add documents" onDragOver=${m=>(m.preventDefault(),n(!0))} onDragLeave=${()=>n(!1)} onDrop=${c}>
    <p>Drop files here, or <button type="button" class="plain" disabled=${h} onClick=${()=>f.current.click()}>choose some</button>.</p>
    <input ref=${f} type="file" multiple hidden aria-label="Files to add" onChange=${m=>(d([...m.target.files]),m.target.value="")} />
    ${s!==null&&_`<label>Who may read them: access tags, separated by commas <input value=${i} disabled=${p} placeholder="your own tags" onInput=${m=>u(m.target.value)} /></label>
        <label><input type="checkbox" checked=${p} onChange=${m=>l(m.target.checked)} /> everybody</label>`}
    <div role="status">
      ${h&&_`<p>${o.told}${o.total>0&&` ${o.done} of ${o.total}`}${o.detail&&`: ${o.detail}`}</p><progress aria-label="Progress" ...${o.total>0?{value:o.done,max:o.total}:{}} />`}
      ${o?.fault&&_`<p role="alert">${o.fault}</p>`}
      ${o?.files&&_`<ul>${o.files.map(m=>_`<li><strong>${m.source}</strong>: ${m.status}${m.reason&&`, ${m.reason}`}${m.notes?.length>0&&_`<br /><span class="faint">${m.notes.join(" ")}</span>`}</li>`)}</ul>`}
    </div>
  </section>`}var an=100;function rn({close:e}){let[t,n]=k([]),[o,r]=k(!0),[s,a]=k(""),[i,u]=k(null),p=async(l=t)=>{try{let f=await P(`/documents?limit=${an}&offset=${l.length}`);n([...l,...f]),a(""),r(f.length===an)}catch(f){r(!1),a(f.message)}};return A(()=>{p()},[]),_`<aside class="documents" aria-label="Documents" onKeyDown=${l=>l.key==="Escape"&&e()}>
    <header><h2>Documents</h2><button type="button" class="icon" aria-label="Close the documents" onClick=${e}>✕</button></header>
    <${sn} done=${()=>p([])} />
    ${s&&_`<p role="alert">${s}</p>`}
    ${i&&_`<h3>${i.title}</h3><${tt} passage=${{...i,page:1}} number=${i.number} setNumber=${l=>u({...i,number:l})} />`}
    <ul>
      ${t.map(l=>_`<li>
          ${l.pages>0?_`<button type="button" class="plain" onClick=${()=>u({...l,number:1})}>${l.title}</button>`:l.title}
          <br /><span class="faint">${l.source}${l.pages>0&&`, ${l.pages} ${l.pages===1?"page":"pages"}`}</span>
        </li>`)}
    </ul>
    ${o&&t.length>0&&_`<button type="button" onClick=${()=>p()}>More</button>`}
  </aside>`}var nt="anabranch.theme";function ot(){let e=localStorage.getItem(nt);e?document.documentElement.dataset.theme=e:delete document.documentElement.dataset.theme}function ln(){let[e,t]=k(localStorage.getItem(nt)??"");return _`<div class="field">
    <label for="theme">Colours</label>
    <select id="theme" value=${e} onInput=${o=>{localStorage.setItem(nt,o.currentTarget.value),t(o.currentTarget.value),ot()}}>
      <option value="">as the system has them</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  </div>`}var st="anabranch.settings",de=["model","strategy","rerank","synthesis","answer_form","verify","top_k","grade"];function un(){try{return JSON.parse(localStorage.getItem(st))??{}}catch{return{}}}function pn({fixed:e,values:t,onChange:n,close:o}){let[r,s]=k(null),[a,i]=k("");A(()=>{Vn().then(({context_schema:l})=>s(Gn(l,e))).catch(l=>i(l.message))},[]);let u=(l,f)=>{let{[l]:d,...c}=t,h=f===void 0?c:{...c,[l]:f};localStorage.setItem(st,JSON.stringify(h)),n(h)},p=l=>l.map(f=>_`<${zn} key=${f.name} ...${f} value=${t[f.name]} change=${d=>u(f.name,d)} />`);return _`<aside class="settings" aria-label="Settings" onKeyDown=${l=>l.key==="Escape"&&o()}>
    <header><h2>Settings</h2><button type="button" class="icon" aria-label="Close the settings" onClick=${o}>✕</button></header>
    <${ln} />
    <h3>Questions</h3>
    <p class="faint">They hold for the questions you ask from now on, in this browser. An empty field is as the server has it.</p>
    ${a&&_`<p role="alert">${a}</p>`}
    ${r&&_`${p(r.filter(l=>de.includes(l.name)))}
    <details><summary>All others</summary>${p(r.filter(l=>!de.includes(l.name)))}</details>
    <p><button type="button" onClick=${()=>{localStorage.removeItem(st),n({})}}>Leave everything to the server</button></p>`}
  </aside>`}async function Vn(){let e=await U("/assistants/search",{graph_id:"answer"}),{assistant_id:t}=e.find(n=>n.graph_id==="answer");return P(`/assistants/${t}/schemas`)}function Gn(e,t){let n=a=>!t.includes(a)&&!a.endsWith("_prompt"),r=Object.entries(e.properties??{}).filter(([a])=>n(a)).map(([a,i])=>{let u=cn(i,e),p=(u.anyOf??[u]).map(h=>cn(h,e)).find(h=>h.type!=="null")??{},{type:l,minimum:f,maximum:d,exclusiveMinimum:c}=p;return{name:a,type:l,maximum:d,minimum:f??c,default:i.default,description:i.description??"",options:p.enum??u.enum??null}}),s=({name:a})=>de.includes(a)?de.indexOf(a):de.length;return r.sort((a,i)=>s(a)-s(i))}function cn(e,t){let n=/^#\/\$defs\/(.+)$/.exec(e.$ref??"")?.[1];return n?{...t.$defs[n],...e}:e}function zn({name:e,type:t,options:n,minimum:o,maximum:r,description:s,default:a,value:i,change:u}){let p=`setting-${e}`,l=h=>{if(h!=="")return t==="integer"||t==="number"?Number(h):t==="boolean"?h==="true":t==="array"?h.split(",").map(m=>m.trim()).filter(Boolean):h},f=n??(t==="boolean"?["true","false"]:null),d={id:p,"aria-describedby":`${p}-is`,onInput:h=>u(l(h.currentTarget.value))},c=a==null?"":` Usually ${Array.isArray(a)?a.join(", "):a}.`;return _`<div class="field">
    <label for=${p}>${e.replaceAll("_"," ")}</label>
    ${f?_`<select ...${d} value=${i===void 0?"":String(i)}>
          <option value="">as the server has it</option>
          ${f.map(h=>_`<option value=${h}>${h}</option>`)}
        </select>`:_`<input ...${d} type=${t==="integer"||t==="number"?"number":"text"} min=${o} max=${r}
          step=${t==="number"?"any":void 0} value=${Array.isArray(i)?i.join(", "):i??""} />`}
    <p id=${`${p}-is`} class="faint">${s}${c}</p>
  </div>`}var at=e=>e.metadata?.title||"Untitled";function dn({threads:e,current:t,choose:n,begin:o,refresh:r,close:s}){return _`<nav class="threads" aria-label="Conversations" onKeyDown=${a=>a.key==="Escape"&&s()}>
    <button type="button" class="new" onClick=${o}>New question</button>
    <ul>
      ${e.map(a=>_`<${Jn} key=${a.thread_id} thread=${a} isCurrent=${a.thread_id===t} choose=${n} begin=${o} refresh=${r} />`)}
    </ul>
    ${!e.length&&_`<p class="faint">Your conversations will be listed here.</p>`}
  </nav>`}function Jn({thread:e,isCurrent:t,choose:n,begin:o,refresh:r}){let[s,a]=k(null),i=`/threads/${e.thread_id}`,u=at(e),p=async d=>{d.preventDefault();let c=new FormData(d.currentTarget).get("title").trim();c&&await P(i,{method:"PATCH",body:{metadata:{title:c}}}),a(null),r()},l=async()=>{await P(i,{method:"DELETE"}),t&&o(),r()},f=async()=>{let d=URL.createObjectURL(new Blob([Kt(u,await te(e.thread_id))],{type:"text/markdown"})),c=document.createElement("a");c.href=d,c.download=`${u.replace(/[^\p{L}\p{N} _-]/gu,"").slice(0,60)||"conversation"}.md`,c.click(),setTimeout(()=>URL.revokeObjectURL(d),1e4),a(null)};return s==="rename"?_`<li><form onSubmit=${p} onKeyDown=${d=>d.key==="Escape"&&(d.stopPropagation(),a(null))}>
      <label class="hidden" for="title">Title of the conversation</label>
      <input id="title" name="title" value=${u} maxlength="200" ref=${d=>d?.focus()} /> <button>Save</button>
    </form></li>`:_`<li class=${t?"current":""}>
    <button type="button" class="title" aria-current=${t?"true":void 0} onClick=${()=>n(e.thread_id)}>${u}</button>
    <button type="button" class="icon" aria-label=${`More about ${u}`} aria-expanded=${s?"true":"false"} onClick=${()=>a(s?null:"menu")}>⋯</button>
    ${s==="menu"&&_`<div class="menu" role="group" aria-label=${`What to do with ${u}`}>
      <button type="button" class="plain" onClick=${()=>a("rename")}>Rename</button>
      <button type="button" class="plain" onClick=${f}>Export</button>
      <button type="button" class="plain danger" onClick=${()=>a("delete")}>Delete</button>
    </div>`}
    ${s==="delete"&&_`<div class="menu" role="group" aria-label="Delete the conversation for good?">
      <button type="button" class="plain danger" onClick=${l}>Delete for good</button>
      <button type="button" class="plain" onClick=${()=>a(null)}>Keep</button>
    </div>`}
  </li>`}var _n={right:"Right",wrong:"Wrong",better_source:"Better source"};function fn({thread:e,turn:t}){let[n,o]=k(null),[r,s]=k(""),a=async p=>{try{await U("/feedback",{run_id:t.run,thread_id:e,...p}),o(null),s(`Noted: ${_n[p.verdict].toLowerCase()}.`)}catch(l){s(l.message)}},i=p=>{p.preventDefault();let l=new FormData(p.currentTarget);a({verdict:n,comment:l.get("comment"),chunk_id:l.get("chunk_id")||null})},u=t.values?.passages??[];return _`<span class="feedback" role="group" aria-label="Feedback">
      ${Object.entries(_n).map(([p,l])=>_`<button type="button" class="plain" aria-pressed=${n===p?"true":"false"}
            onClick=${()=>p==="right"?a({verdict:p,comment:""}):o(n===p?null:p)}>${l}</button>`)}
      <span role="status" class="faint">${r}</span>
    </span>
    ${n&&_`<form class="opinion" onSubmit=${i}>
      ${n==="better_source"&&u.length>0&&_`<label>The passage that says it
        <select name="chunk_id"><option value="">none of these</option>
          ${u.map(p=>_`<option value=${p.id}>${p.source}${p.page?`, page ${p.page}`:""}: ${p.preview.slice(0,60)}</option>`)}
        </select></label>`}
      <label>What should it say, or where does it stand?<input name="comment" maxlength="2000" /></label>
      <button>Send</button>
    </form>`}`}var rt={begin:"opening the corpus",condense:"reading the conversation",rewrite:"choosing what to search for",retrieve:"searching",fuse:"joining the lists",rerank:"ordering the passages",merge:"joining neighbouring passages",grade:"judging the evidence",pack:"choosing how to answer",create:"writing",refine:"reading on",map:"reading all windows",installed:"writing",gather:"laying out the parts",reduce:"joining the parts",cite:"checking the quotes",abstain:"finding no answer",finish:"finishing"},Qn=24,Yn=e=>e>=1e3?`${(e/1e3).toFixed(1)} s`:`${Math.round(e)} ms`;function mn({values:e,open:t}){let{trace:n=[],queries:o=[],route:r,usage:s={},evidence:a,standalone_question:i,original_question:u}=e;return _`<section class="river" aria-label="How it was found">
    <h3>Searched for</h3>
    ${i&&i!==u&&_`<p class="faint">Understood as: ${i}</p>`}
    <ol class="queries">
      ${o.map(p=>_`<li>${p.text} <span class="faint">${p.kind}, weight ${Number(p.weight.toFixed(2))}</span></li>`)}
    </ol>
    <${eo} values=${e} open=${t} />
    ${a?.verdict&&_`<h3>Evidence: ${a.verdict}</h3><ul>${a.reasons.map(p=>_`<li>${p}</li>`)}</ul>`}
    ${r?.name&&_`<h3>Written by: ${r.name}</h3><ul>${r.reasons.map(p=>_`<li>${p}</li>`)}</ul>`}
    <h3>Steps</h3>
    <p class="faint">${s.calls??0} model calls in ${s.rounds??0} rounds, ${s.prompt_tokens??0} tokens read, ${s.output_tokens??0} written.</p>
    <${Xn} trace=${n} />
  </section>`}function Xn({trace:e}){let t=Math.max(1,...e.map(n=>n.ms));return _`<div class="wide" tabindex="0" role="region" aria-label="Steps of the run">
    <table class="steps">
      <thead><tr><th scope="col">Step</th><th scope="col">Time</th><th scope="col">Calls</th><th scope="col">Tokens</th><th scope="col">What it did</th></tr></thead>
      <tbody>
        ${e.map((n,o)=>{let r=o>0&&e[o-1].round===n.round;return _`<tr class=${r?"beside":""}>
            <th scope="row" title=${rt[n.node]}>${n.node}${r?_`<span class="faint"> at the same time</span>`:""}</th>
            <td><meter min="0" max=${t} value=${n.ms} aria-label=${`Time of ${n.node}`}></meter> ${Yn(n.ms)}</td>
            <td>${n.calls||""}</td>
            <td>${n.prompt_tokens+n.output_tokens||""}</td>
            <td class="faint">${Zn(n.counts)}</td>
          </tr>`})}
      </tbody>
    </table>
  </div>`}function Zn(e){return Object.entries(e).filter(([,t])=>!(Array.isArray(t)&&!t.length)).map(([t,n])=>`${t} ${typeof n=="object"?JSON.stringify(n):n}`).join(", ")}function eo({values:e,open:t}){let{candidates:n=[],passages:o=[],citations:r=[]}=e;if(!n.length)return null;let s=[...new Set(n.flatMap(m=>Object.keys(m.ranks)))].sort(),a=[...s,"joined","passages"],i=new Map(o.flatMap((m,g)=>m.leaves.map(b=>[b,g]))),u=new Set(r.map(m=>m.chunk_id)),p=m=>u.has(m.id)||u.has(o[i.get(m.id)]?.id),l=Math.max(Qn,...n.flatMap(m=>Object.values(m.ranks))),f=150*(a.length-1)+80,d=m=>40+150*a.indexOf(m),c=(m,g)=>30+190*(m-1)/Math.max(g-1,1),h=n.map(m=>{let g=s.filter($=>m.ranks[$]).map($=>[d($),c(m.ranks[$],l)]);return g.push([d("joined"),c(m.fused,l)]),i.has(m.id)&&g.push([d("passages"),c(i.get(m.id)+1,Math.max(o.length,2))]),{path:g.map(([$,v],w)=>w===0?`M${$},${v}`:`C${$-75},${g[w-1][1]} ${$-75},${v} ${$},${v}`).join(""),points:g,strong:p(m)}});return h.sort((m,g)=>m.strong-g.strong),_`<h3>Lists, and how they flowed together</h3>
    <div class="wide" tabindex="0" role="region" aria-label="Picture of the ranks">
      <svg class="flow" viewBox=${`0 0 ${f} 235`} role="img" aria-label="Ranks of each passage in the lists, after joining them, and in the answer; cited ones are emphasised. The table below says the same.">
        ${a.map(m=>_`<text x=${d(m)} y="16" text-anchor="middle">${m}</text>`)}
        ${h.map(({path:m,points:g,strong:b})=>_`<g class=${b?"strong":""}><path d=${m} />${g.map(([$,v])=>_`<circle cx=${$} cy=${v} r=${b?3.5:2} />`)}</g>`)}
      </svg>
    </div>
    <details>
      <summary>Passages and their ranks</summary>
      <${it} values=${e} open=${t} />
    </details>`}function it({values:e,open:t,ranks:n=!0,most:o=1/0}){let{candidates:r=[],passages:s=[],citations:a=[]}=e,i=new Map(r.map(p=>[p.id,p])),u=new Set(a.map(p=>p.chunk_id));return _`<ol class="passages">
    ${s.slice(0,o).map(p=>{let f=p.leaves.map(d=>i.get(d)).filter(Boolean).map(d=>`${Object.entries(d.ranks).map(([c,h])=>`${c} ${h}`).join(", ")}, joined ${d.fused}`);return _`<li>
        <button type="button" class="plain" onClick=${d=>t({...p,chunk_id:p.id,title:""},d.currentTarget)}>
          ${p.source}${p.page?`, page ${p.page}`:""}
        </button>
        ${u.has(p.id)&&_` <span class="grade quoted">cited</span>`}
        ${n&&p.leaves.length>1&&_` <span class="grade">merged from ${p.leaves.length}</span>`}
        <br />${p.preview}…
        ${n&&_`<br /><span class="faint">${f.join("; ")}</span>`}
      </li>`})}
  </ol>`}var to={};function hn({turn:e,thread:t,busy:n,last:o,open:r,shown:s,ask:a,stop:i,fork:u,choose:p}){let[l,f]=k(!1),[d,c]=k(!1),h=e.values??to,{citations:m=[],unsupported:g=[],verification:b={},degraded:$=[],abstained:v}=h,w=e.live?e.text:h.answer??"",T=e.question??h.original_question??"",x=e.versions?.indexOf(e.run)??-1;return _`<article class="turn">
    ${l?_`<${oo} question=${T} cancel=${()=>f(!1)} save=${j=>{f(!1),a(j,e.base)}} />`:_`<h2>${T}</h2>`}
    ${e.versions?.length>1&&_`<p class="versions">
      <button type="button" class="icon" aria-label="Earlier version" disabled=${x<=0||n} onClick=${()=>p(e.versions[x-1])}>‹</button>
      Version ${x+1} of ${e.versions.length}
      <button type="button" class="icon" aria-label="Later version" disabled=${x>=e.versions.length-1||n} onClick=${()=>p(e.versions[x+1])}>›</button>
    </p>`}
    <${Zt} text=${w} citations=${e.live?[]:m} verification=${b} unsupported=${e.live?[]:g}
      busy=${!!e.live} open=${r} shown=${s} />
    ${e.live&&_`<${no} turn=${e} stop=${i} />`}
    ${e.error&&_`<p role="alert" class="error">${e.error}</p>`}
    ${!e.live&&e.unfinished&&!e.waits&&_`<p class="note">This was stopped before the answer was complete.</p>`}
    ${e.waits&&_`<p class="note">This run waits for a person (setting “review”); go on with it in the program that began it.</p>`}
    ${!e.live&&v&&h.passages?.length>0&&_`<details class="nearest" open><summary>The nearest passages, to be opened</summary>
      <${it} values=${h} open=${r} ranks=${!1} most=${5} /></details>`}
    ${!e.live&&_`<${nn} citations=${m} verification=${b} unsupported=${g} open=${r} />`}
    ${!e.live&&$.length>0&&_`<ul class="degraded">${$.map(j=>_`<li><strong>${j.step}</strong> could not do its best: ${j.reason}</li>`)}</ul>`}
    ${!e.live&&_`<div class="actions">
      ${e.values&&_`<button type="button" class="plain" aria-expanded=${d?"true":"false"} onClick=${()=>c(!d)}>How it was found</button>`}
      <button type="button" class="plain" disabled=${n} onClick=${()=>a(T,e.base)}>Retry</button>
      ${e.base!==void 0&&_`
        <button type="button" class="plain" disabled=${n} onClick=${()=>f(!0)}>Edit</button>`}
      ${e.checkpoint&&!o&&_`<button type="button" class="plain" disabled=${n} onClick=${()=>u(e)}>Go on from here</button>`}
      ${e.run&&!e.unfinished&&_`<${fn} key=${e.run} thread=${t} turn=${e} />`}
    </div>`}
    ${d&&!e.live&&_`<${mn} values=${h} open=${r} />`}
  </article>`}var lt=e=>e.lost?"connecting again":rt[e.step]??e.step??"waiting";function no({turn:e,stop:t}){let n=lt(e);return _`<p class="progress">
    <span class="dot" aria-hidden="true"></span>
    <span>${n}</span>
    <button type="button" onClick=${t}>Stop</button>
  </p>`}function oo({question:e,save:t,cancel:n}){return _`<form class="edit" onSubmit=${r=>{r.preventDefault();let s=new FormData(r.currentTarget).get("question").trim();s&&t(s)}} onKeyDown=${r=>r.key==="Escape"&&n()}>
    <label class="hidden" for="edited">Edit the question</label>
    <textarea id="edited" name="question" rows="3" required ref=${r=>r?.focus()}>${e}</textarea>
    <button>Ask again</button> <button type="button" class="plain" onClick=${n}>Cancel</button>
  </form>`}var so=["messages-tuple","custom"],Ee=()=>location.hash.replace(/^#\/?/,"")||null;function ao(){let[e,t]=k(null),[n,o]=k(!1),[r,s]=k(""),[a,i]=k([]),[u,p]=k(Ee()),[l,f]=k([]),[d,c]=k(null),[h,m]=k(null),[g,b]=k(null),[$,v]=k(null),[w,T]=k(un()),x=M(null),j=M(null),S=y=>y.status===401||s(y.message),J=Ve(async()=>{let y=await U("/threads/search",{limit:200});i(y.filter(E=>!E.metadata?.graph_id||E.metadata.graph_id==="answer"))},[]),I=Ve(async()=>{try{t(await P("/page/options")),o(!1),await J()}catch(y){S(y)}},[]);A(()=>{Ft(()=>o(!0)),I();let y=()=>p(Ee());return addEventListener("hashchange",y),()=>removeEventListener("hashchange",y)},[]),A(()=>{!e||n||x.current?.thread!==u&&(x.current?.ends.abort(),x.current=null,f([]),c(null),m(null),b(null),s(""),u&&H(u).catch(S))},[u,e,n]);let H=async(y,E)=>{let[W,[B]]=await Promise.all([te(y,E),P(`/threads/${y}/runs?limit=1`)]);if(Ee()!==y)return;if(!["pending","running"].includes(B?.status))return void f(W);let D=W.find(F=>F.run===B.run_id);await N(y,B.run_id,null,W.filter(F=>F!==D),D?.values?.original_question)},N=async(y,E,W,B,D)=>{let F=new AbortController,K={thread:y,run:E,ends:F};x.current=K;let De={live:!0,question:D,text:"",run:E},dt=null,oe=Q=>{x.current===K&&c(R=>({...R??De,...Q(R??De)}))};f(B),c(De);let fe=null;try{await Ht(y,E,W,{signal:F.signal,onLost:()=>oe(()=>({lost:!0})),onEvent:({event:Q,data:R})=>{let[qe]=Q.split("|");if(qe==="metadata")K.run=R.run_id??K.run,R.attempt>1&&oe(()=>({text:"",lost:!1}));else if(qe==="custom"&&R.status==="started")oe(()=>({step:R.step,lost:!1}));else if(qe==="custom"&&typeof R.answer=="string")oe(()=>({text:R.answer}));else if(Q==="messages"){let[Y]=R,_t=typeof Y.content=="string"?Y.content:"",yn=Y.id===dt&&Y.type==="AIMessageChunk";dt=Y.id,(Y.type?.startsWith("AI")||Y.type==="ai")&&oe(kn=>({text:yn?kn.text+_t:_t,lost:!1}))}else Q==="error"&&(fe=R.message??String(R.error))}})}catch(Q){if(F.signal.aborted)return;fe=Q.message}if(x.current!==K)return;let me=await te(y);if(x.current!==K||Ee()!==y)return;x.current=null,c(null),m(null);let vn=me.at(-1)?.run===K.run;f(vn?[...me.slice(0,-1),{...me.at(-1),error:fe}]:[...me,{question:D,error:fe??"This was stopped before it began.",values:null}]),J().catch(()=>{})},L=async(y,E)=>{s("");let W=E===void 0?l.length:l.findIndex(D=>D.base===E),B=l.slice(0,W).filter(D=>D.values);f(B),c({live:!0,question:y,text:""});try{let D=u;D||(D=(await U("/threads",{metadata:{title:y.replace(/\s+/g," ").slice(0,80),graph_id:"answer"}})).thread_id,x.current={thread:D,ends:new AbortController},location.hash=`/${D}`,p(D));let F=await V(`/threads/${D}/runs/stream`,{method:"POST",body:{assistant_id:"answer",input:{question:y},context:w,stream_mode:so,stream_subgraphs:!0,stream_resumable:!0,on_disconnect:"continue",checkpoint_id:E??h??void 0}}),K=(F.headers.get("Content-Location")??"").split("/").pop();J().catch(()=>{}),await N(D,K,F,B,y)}catch(D){x.current=null,c(null),f([...B,{question:y,error:D.message,values:null}])}},$n=()=>{let{thread:y,run:E}=x.current??{};E&&V(`/threads/${y}/runs/${E}/cancel`,{method:"POST"}).catch(S)},ct=async y=>{f(await te(u,y)),m(y)},gn=async y=>ct(await Bt(u,y)).catch(S),ut=y=>{location.hash=y?`/${y}`:"",p(y),v(null)},bn=(y,E)=>{j.current=E,v(null),b(y)},_e=()=>{b(null),v(null),j.current?.focus()},ee=d?[...l,d]:l,pt=M();A(()=>pt.current?.querySelector("article:last-of-type")?.scrollIntoView({block:"start"}),[u,ee.length]);let Pe=a.find(y=>y.thread_id===u);if(A(()=>{document.title=Pe?`${at(Pe)} - Anabranch`:"Anabranch"},[Pe]),n)return _`<${io} enter=${I} />`;let Oe=y=>E=>{j.current=E.currentTarget,b(null),v($===y?null:y)};return _`<div class=${`layout ${g||["documents","settings"].includes($)?"aside":""} ${$==="threads"?"listed":""}`}>
    <header class="top">
      <button type="button" class="icon only-narrow" aria-label="Conversations" aria-expanded=${$==="threads"?"true":"false"} onClick=${Oe("threads")}>☰</button>
      <h1>Anabranch</h1>
      <button type="button" class="plain" aria-expanded=${$==="documents"?"true":"false"} onClick=${Oe("documents")}>Documents</button>
      <button type="button" class="plain" aria-expanded=${$==="settings"?"true":"false"} onClick=${Oe("settings")}>Settings</button>
      ${e?.name&&_`<button type="button" class="plain" onClick=${()=>{xe.clear(),location.reload()}}>Sign out ${e.name}</button>`}
    </header>
    <${dn} threads=${a} current=${u} choose=${ut} begin=${()=>ut(null)} refresh=${()=>J().catch(S)} close=${_e} />
    <main ref=${pt}>
      <p class="hidden" role="status">${d?lt(d):ee.length>0&&"The answer is complete."}</p>
      ${r&&_`<p role="alert" class="error">${r}</p>`}
      ${!ee.length&&!u&&_`<div class="welcome"><p>Ask something about your documents. Every statement of the answer is held against them, and a click on its number shows the place.</p></div>`}
      ${ee.map((y,E)=>_`<${hn} key=${y.run??`new-${E}`} turn=${y} thread=${u} last=${E===ee.length-1} busy=${!!d}
        open=${bn} shown=${g&&g.chunk_id+g.start} ask=${L} stop=${$n} choose=${gn} fork=${W=>ct(W.checkpoint).catch(S)} />`)}
      <${ro} ask=${L} busy=${!!d} goesOn=${ee.length>0} tip=${h} />
    </main>
    ${g&&_`<${on} cite=${g} close=${_e} />`}
    ${$==="documents"&&_`<${rn} close=${_e} />`}
    ${$==="settings"&&e&&_`<${pn} fixed=${e.fixed} values=${w} onChange=${T} close=${_e} />`}
  </div>`}function ro({ask:e,busy:t,goesOn:n,tip:o}){let r=M(),s=i=>{i.preventDefault();let u=r.current.value.trim();!u||t||(r.current.value="",e(u))},a=i=>{i.key==="Enter"&&!i.shiftKey&&!i.isComposing&&s(i)};return _`<form class="composer" onSubmit=${s}>
    ${o&&_`<p class="faint">Your next question goes on from the answer above.</p>`}
    <label class="hidden" for="question">Question</label>
    <textarea id="question" ref=${r} rows="2" placeholder=${n?"Ask a follow-up question":"Ask a question"} required onKeyDown=${a}></textarea>
    <button disabled=${t}>Ask</button>
  </form>`}function io({enter:e}){let[t,n]=k("");return _`<main class="login"><h1>Anabranch</h1>
    <form onSubmit=${async r=>{r.preventDefault(),xe.set(new FormData(r.currentTarget).get("key").trim()),n(""),await e(),n("This key is not known here.")}}>
      <label for="key">Your key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
      <button>Sign in</button>
      <p role="alert">${t}</p>
      <p class="faint">It is kept for as long as this tab is open.</p>
    </form></main>`}ot();Ct(_`<${ao} />`,document.getElementById("page"));
// sources 3545181560f559959ba9cd3157f64d84dd49ccaa71f4bd07f1b80fc09d5b3008
